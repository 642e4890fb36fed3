// The decision of a cycle before it is reported: the plan, and everything that explaining the rest needs.

import type { Placement } from "@lattice/core";
import { toJob } from "../fit/job.ts";
import type { CycleInput } from "../input/cycle-input.ts";
import type { Preemption } from "../input/preemption.ts";
import { createQuotas } from "../limits/quotas.ts";
import type { Draft } from "../plan/draft.ts";
import type { Queue } from "../queue/queue.ts";
import type { ScoreBasis } from "../score/score.ts";
import type { ReasonContext } from "./reasons.ts";

export interface CycleDecision extends ReasonContext {
  readonly placements: readonly Placement[];
  readonly preemptions: readonly Preemption[];
  readonly considered: number;
  readonly queue: Queue;
  /** `null` when the cycle did not order its queue. */
  readonly basis: ScoreBasis | null;
}

/** Returns the decision of a cycle that could start nothing and did not order its queue. */
export const undecided = (input: CycleInput, draft: Draft): CycleDecision => ({
  draft,
  quotas: createQuotas(input),
  placements: [],
  preemptions: [],
  considered: 0,
  defaultReason: "not_considered",
  queue: unorderedQueue(draft, input),
  basis: null,
  exchanged: new Map(),
});

/** For reports only: it yields nothing to schedule, and lists the jobs in the order of the input. */
function unorderedQueue({ machine }: Draft, { pending, signals }: CycleInput): Queue {
  return {
    lastDrawn: -1,
    compare: (a, b) => a - b,
    next: () => null,
    skipUnless: () => {},
    resume: () => {},
    skipped: { nodesNeeded: Number.POSITIVE_INFINITY, occupancy: Number.POSITIVE_INFINITY },
    *select(isSelected) {
      for (const input of pending) if (isSelected(input)) yield toJob(machine, input, signals);
    },
  };
}
