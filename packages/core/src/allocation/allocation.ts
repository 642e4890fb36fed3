// The allocation record: the universal unit of work. Records are immutable values; a change
// replaces the record in its table.

import type { AllocationId, Attempt, Instant, LogIndex, NodeId, UserName } from "../ids.ts";
import type { Session } from "../session/session.ts";
import type { Past } from "./past.ts";
import type { AllocationPhase } from "./phase.ts";
import type { AllocationSpec } from "./spec.ts";

/** Score terms of a committed placement, in thousandths, by factor name ("priority", "total", ...). */
export type Scores = Readonly<Record<string, number>>;

export interface Allocation {
  readonly id: AllocationId;
  readonly user: UserName;
  readonly spec: AllocationSpec;
  readonly submittedAt: Instant;
  readonly phase: AllocationPhase;
  /** Number of the newest attempt; 0 before the first placement. */
  readonly attempt: Attempt;
  readonly requeues: number;
  /** How often it was stopped for others, which its requeues do not count; absent: never. */
  readonly preemptions?: number;
  /** Index of the entry that last made it pending: a plan based on less is stale (E8, O7). */
  readonly pendingSinceIndex: LogIndex;
  /** Of the newest placement. */
  readonly scores: Scores;
  readonly backfilled: boolean;
  /** Absent: nothing to tell. */
  readonly past?: Past;
  /** Who has a terminal in it. Absent: nobody. */
  readonly sessions?: readonly Session[];
  /** Nodes that could not be made ready for it; it is not placed there again. Absent: none. */
  readonly setAside?: readonly NodeId[];
}
