// The context of a command handler: the state, the stamp of its entry, and two outboxes.

import type { AllocationId, Instant, LogIndex } from "../base/ids.ts";
import type { EndedWork } from "../model/allocation/ended-work.ts";
import type { Effect } from "../model/event/effect.ts";
import type { Event } from "../model/event/event.ts";
import type { State } from "../state/state.ts";

export interface Step {
  readonly state: State;
  readonly index: LogIndex;
  readonly at: Instant;
  /** The newest version in use; features of later versions are disabled. */
  readonly version: number;
  readonly events: Event[];
  readonly effects: Effect[];
  /** Ended work that is not settled yet: others may wait for it. */
  readonly endedWork: EndedWork[];
  /** Task groups with changed elements. */
  readonly touchedGroups: Set<AllocationId>;
}
