// The answer to a proposed command once its entry is committed and applied.

import type { LogIndex, Outcome } from "@lattice/core";

export interface Committed {
  readonly outcome: Outcome;
  /** The entry that holds the command. */
  readonly index: LogIndex;
}
