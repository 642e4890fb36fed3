// The result of applying one entry.

import type { Instant, LogIndex } from "../base/ids.ts";
import type { Outcome } from "../base/outcome.ts";
import type { Effect } from "../model/event/effect.ts";
import type { Event } from "../model/event/event.ts";

/** The result of applying one entry: one outcome per command, and everything that follows. */
export interface Applied {
  readonly index: LogIndex;
  readonly at: Instant;
  readonly outcomes: readonly Outcome[];
  readonly events: readonly Event[];
  readonly effects: readonly Effect[];
}
