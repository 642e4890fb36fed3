// What a submission would do: the real cycle on a snapshot that has it as one more in the queue, as if it had just
// been submitted. Nothing is proposed and nothing is kept.

import type { Allocation, AllocationId, AllocationSpec, Attempt, Instant, LogIndex, UserName } from "@lattice/core";
import { type CycleInput, conclude, type Explanation, explain, type Study, type Suggestion } from "@lattice/scheduler";
import type { Planned } from "./question.ts";

/** Beyond every id that there will be, so that it comes last among equals. */
const PLANNED = "9007199254740991" as AllocationId;

export interface PlanParts {
  readonly now: Instant;
  /** With the planned one in the queue. */
  readonly snapshot: CycleInput;
  readonly sooner: (
    study: Study,
    wanted: { readonly id: AllocationId; readonly expected: Instant | null },
  ) => readonly Suggestion[];
}

export function planFor({ now, snapshot, sooner }: PlanParts): Planned {
  const { result, study } = conclude({ ...snapshot, report: "full" });
  const placement = result.placements.find(({ allocation }) => allocation === PLANNED);
  const reservation = result.reservations.find(({ allocation }) => allocation === PLANNED);
  const preemption = result.preemptions.find(({ allocation }) => allocation === PLANNED);
  const later = preemption?.startsAt ?? result.estimates.get(PLANNED) ?? null;
  const expected = placement === undefined ? later : now;
  const told: Explanation | null = study === null ? null : explain(study, PLANNED);
  return {
    now,
    startsNow: placement !== undefined,
    expected,
    reserved: placement === undefined && preemption === undefined && reservation !== undefined,
    nodes: placement?.nodes ?? preemption?.nodes ?? reservation?.nodes ?? [],
    backfilled: placement?.backfilled ?? false,
    scores: placement?.scores ?? told?.queue.scores ?? {},
    causes: told?.causes ?? result.reasons.get(PLANNED) ?? [],
    wouldPreempt: (preemption?.victims ?? []).map((victim) => victim.allocation),
    sooner: study === null || placement !== undefined ? [] : sooner(study, { id: PLANNED, expected }),
    position: told?.queue.position ?? 0,
    length: told?.queue.length ?? 0,
  };
}

/** As it would be if it had just been submitted. */
export const plannedRecord = (spec: AllocationSpec, user: UserName, now: Instant): Allocation => ({
  id: PLANNED,
  user,
  spec,
  submittedAt: now,
  phase: { kind: "pending", since: now, cause: "submitted" },
  attempt: 0 as Attempt,
  requeues: 0,
  pendingSinceIndex: 0 as LogIndex,
  scores: {},
  backfilled: false,
});
