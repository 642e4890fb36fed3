// The error of a file that the user named: the file, the line, and what is wrong. The program prints it and exits with
// status 2 before it writes anything.

export class BadInput extends Error {
  readonly file: string;
  /** Starts at 1; `null` for the whole file. */
  readonly line: number | null;
  constructor(file: string, line: number | null, detail: string) {
    super(`${file}${line === null ? "" : `:${line}`}: ${detail}`);
    this.name = "BadInput";
    this.file = file;
    this.line = line;
  }
}
