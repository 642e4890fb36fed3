// The output of the program: results to one stream; notes, progress and errors to the other.

import type { ProgressTerminal } from "./progress.ts";

export interface Streams {
  readonly out: { write(text: string): unknown };
  readonly err: ProgressTerminal;
}
