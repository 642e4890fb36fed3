// What a submission would do: the real cycle on a snapshot that has it as one more in the queue, as if it had just
// been submitted. Nothing is proposed and nothing is kept.

import type { Allocation, AllocationId, AllocationSpec, Attempt, Instant, LogIndex, UserName } from "@lattice/core";
import {
  type CycleInput,
  conclude,
  type Explanation,
  explain,
  type Lenders,
  pendingInput,
  type Study,
  type Suggestion,
} from "@lattice/scheduler";
import type { Planned } from "./question.ts";

/** Beyond every id that there will be, so that it comes last among equals. */
const PLANNED = "9007199254740991" as AllocationId;

export interface PlanParts {
  readonly now: Instant;
  readonly snapshot: CycleInput;
  /** On whose nodes it might run as well. */
  readonly lenders: Lenders | null;
  readonly sooner: (
    study: Study,
    wanted: { readonly id: AllocationId; readonly expected: Instant | null },
  ) => readonly Suggestion[];
}

export function planFor(
  { spec, user }: { readonly spec: AllocationSpec; readonly user: UserName },
  { now, snapshot, lenders, sooner }: PlanParts,
): Planned {
  const input = withOneMore(snapshot, { spec, user, now, lenders });
  const { result, study } = conclude({ ...input, report: "full" });
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

interface Asked {
  readonly spec: AllocationSpec;
  readonly user: UserName;
  readonly now: Instant;
  readonly lenders: Lenders | null;
}

function withOneMore(input: CycleInput, { spec, user, now, lenders }: Asked): CycleInput {
  const record: Allocation = {
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
  };
  const pending = pendingInput(record, lenders);
  const known = input.tenants.some(({ id }) => id === spec.tenant);
  const newcomer = {
    id: spec.tenant,
    nodesInUse: 0,
    running: 0,
    maxNodes: null,
    maxConcurrentAllocations: null,
    fairShareMilli: Math.max(1, Math.round(1000 / (input.tenants.length + 1))),
  };
  return {
    ...input,
    pending: [...input.pending, pending],
    tenants: known ? input.tenants : [...input.tenants, newcomer],
  };
}
