// What a submission would do: a real cycle on a snapshot with one more pending allocation. Nothing is proposed or kept.

import type { Allocation, AllocationId, AllocationSpec, Attempt, Instant, LogIndex, UserName } from "@lattice/core";
import {
  type CycleInput,
  type CycleRecord,
  type Explanation,
  explain,
  recordCycle,
  type Suggestion,
} from "@lattice/scheduler";
import type { PlannedSubmission } from "./question.ts";

/** Greater than every real id, so that it comes last among equals. */
const PLANNED = "9007199254740991" as AllocationId;

export interface PlanParts {
  readonly now: Instant;
  /** With the planned allocation in the queue. */
  readonly snapshot: CycleInput;
  readonly sooner: (
    record: CycleRecord,
    request: { readonly id: AllocationId; readonly expected: Instant | null },
  ) => readonly Suggestion[];
}

export function planFor({ now, snapshot, sooner }: PlanParts): PlannedSubmission {
  const { result, record } = recordCycle({ ...snapshot, report: "full" });
  const placement = result.placements.find(({ allocation }) => allocation === PLANNED);
  const reservation = result.reservations.find(({ allocation }) => allocation === PLANNED);
  const preemption = result.preemptions.find(({ allocation }) => allocation === PLANNED);
  const later = preemption?.startsAt ?? result.estimates.get(PLANNED) ?? null;
  const expected = placement === undefined ? later : now;
  const explanation: Explanation | null = record === null ? null : explain(record, PLANNED);
  return {
    now,
    startsNow: placement !== undefined,
    expected,
    reserved: placement === undefined && preemption === undefined && reservation !== undefined,
    nodes: placement?.nodes ?? preemption?.nodes ?? reservation?.nodes ?? [],
    backfilled: placement?.backfilled ?? false,
    scores: placement?.scores ?? explanation?.queue.scores ?? {},
    causes: explanation?.causes ?? result.reasons.get(PLANNED) ?? [],
    wouldPreempt: (preemption?.victims ?? []).map((victim) => victim.allocation),
    sooner: record === null || placement !== undefined ? [] : sooner(record, { id: PLANNED, expected }),
    position: explanation?.queue.position ?? 0,
    length: explanation?.queue.length ?? 0,
  };
}

/** Returns the record of the allocation as if it had just been submitted. */
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
