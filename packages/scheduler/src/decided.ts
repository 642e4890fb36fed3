// What a cycle has decided, before it is told: the plan, and everything that explaining the rest needs.

import type { Placement } from "@lattice/core";
import type { Standing } from "./explain.ts";
import type { Queue } from "./order.ts";
import type { Preemption } from "./preempt/preempt-types.ts";
import type { ScoreBasis } from "./score/score.ts";

export interface Decided extends Standing {
  readonly placements: readonly Placement[];
  readonly preemptions: readonly Preemption[];
  readonly considered: number;
  readonly queue: Queue;
  /** Null when the queue was not even ordered. */
  readonly basis: ScoreBasis | null;
}
