// What a command's body gets: the state, the stamp of its entry, and two outboxes. Outcomes are
// built here so that every refusal has the same shape.

import type { AllocationId, Instant, LogIndex } from "../base/ids.ts";
import type { EndedWork } from "../model/allocation/ended-work.ts";
import type { Effect } from "../model/event/effect.ts";
import type { Event } from "../model/event/event.ts";
import type { State } from "../state/state.ts";

export interface Step {
  readonly state: State;
  readonly index: LogIndex;
  readonly at: Instant;
  /** The newest in use: what a later one brought must not happen yet. */
  readonly version: number;
  readonly events: Event[];
  readonly effects: Effect[];
  /** Ended work that is not settled yet: others may wait for it. */
  readonly endedWork: EndedWork[];
  /** Task groups of which something has moved. */
  readonly touchedGroups: Set<AllocationId>;
}
