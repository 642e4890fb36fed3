// The refusal of a trace, before it is known which file it came from.

/** Something is wrong with the trace; the line is counted from 1, null when it is the whole file. */
export class TraceError extends Error {
  readonly line: number | null;
  constructor(line: number | null, detail: string) {
    super(detail);
    this.name = "TraceError";
    this.line = line;
  }
}
