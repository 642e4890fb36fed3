// The error of a trace, before its file is known.

/** The line starts at 1; `null` for the whole file. */
export class TraceError extends Error {
  readonly line: number | null;
  constructor(line: number | null, detail: string) {
    super(detail);
    this.name = "TraceError";
    this.line = line;
  }
}
