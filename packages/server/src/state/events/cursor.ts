// The position of an event in the log, and an event with its position.

import type { Event, Instant, LogIndex } from "@lattice/core";

/** Position of an event: the entry, and its place among that entry's events. */
export interface Cursor {
  readonly index: LogIndex;
  readonly n: number;
}

export interface NumberedEvent {
  readonly cursor: Cursor;
  readonly at: Instant;
  readonly event: Event;
}
