// Where the program writes: results to one stream, notes, progress and refusals to the other.

import type { Terminal } from "./progress.ts";

export interface Streams {
  readonly out: { write(text: string): unknown };
  readonly err: Terminal;
}
