// The effect of a submission: a real cycle on a snapshot with one more pending allocation. Nothing is proposed or kept.

import {
  type Allocation,
  type AllocationSpec,
  allocationIdOf,
  type Instant,
  judgeSubmission,
  logIndex,
  newAllocation,
  type Tenant,
  type UserName,
  type View,
} from "@lattice/core";
import { type Explanation, explain, recordCycle } from "@lattice/scheduler";
import type { PlannedSubmission } from "./answers.ts";
import { suggestionsFor } from "./explain.ts";
import type { CallFacts, PlannerQuestion } from "./messages.ts";
import { RefusedError } from "./refused.ts";
import { nowOf, type PlannerState, snapshotAt } from "./state.ts";

/** Greater than every real id, so that it comes last among equals. */
const PLANNED = allocationIdOf(Number.MAX_SAFE_INTEGER);

/** Throws a RefusedError when the submission would be rejected. */
export function planSubmission(
  state: PlannerState,
  { spec, user }: PlannerQuestion<"plan">,
  facts: CallFacts,
): PlannedSubmission {
  const now = nowOf(state, facts);
  const present = state.parts.view();
  const judged = judgeSubmission(present, { spec, createTenant: facts.createTenants }, now);
  if (judged.kind === "rejected") throw new RefusedError(judged.refusal);
  const view = viewWith(present, plannedRecord(spec, user, now), judged.tenant);
  const { result, record } = recordCycle({
    ...snapshotAt(state, { vcluster: judged.vcluster, at: now, budgetDays: facts.budgetDays, view }),
    report: "full",
  });
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
    sooner:
      record === null || placement !== undefined ? [] : suggestionsFor(state, record, { id: PLANNED, expected, spec }),
    position: explanation?.queue.position ?? 0,
    length: explanation?.queue.length ?? 0,
  };
}

/** Returns the record of the allocation as if it had just been submitted. */
const plannedRecord = (spec: AllocationSpec, user: UserName, now: Instant): Allocation =>
  newAllocation({ id: PLANNED, user, spec, submittedAt: now }, { at: now, index: logIndex(0) });

/** Returns the view with one more pending allocation; the state stays unchanged. */
function viewWith(view: View, record: Allocation, tenant: Tenant): View {
  const { vcluster, lifecycle } = record.spec;
  const changed: Partial<View> = {
    allocation: (id) => (id === record.id ? record : view.allocation(id)),
    pending: (id) => (id === vcluster ? [...view.pending(id), record] : view.pending(id)),
    pendingCount: (id) => view.pendingCount(id) + (id === vcluster ? 1 : 0),
    highestPendingClass: (id) =>
      Math.max(view.highestPendingClass(id), id === vcluster ? lifecycle.preemptionClass : Number.NEGATIVE_INFINITY),
    tenant: (id) => (id === tenant.id ? tenant : view.tenant(id)),
    tenants: () => (view.tenant(tenant.id) === undefined ? [...view.tenants(), tenant] : view.tenants()),
  };
  return new Proxy(view, {
    get(target, name) {
      if (name in changed) return changed[name as keyof View];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
