// A refusal of a file that the user named: which file, which line, what is wrong with it. The program
// prints it and ends with status 2, before anything is written.

export class BadInput extends Error {
  readonly file: string;
  /** Counted from 1; null when it is the whole file. */
  readonly line: number | null;
  constructor(file: string, line: number | null, detail: string) {
    super(`${file}${line === null ? "" : `:${line}`}: ${detail}`);
    this.name = "BadInput";
    this.file = file;
    this.line = line;
  }
}
