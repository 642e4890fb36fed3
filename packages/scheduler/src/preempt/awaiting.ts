// Starts allocations whose victims are gone, before any other. Until such an allocation can start, the nodes freed for it
// are reserved against every vCluster, and it takes no further part in the cycle, so that no second set of victims is
// stopped for it.

import type { AllocationId, NodeId } from "@lattice/core";
import { type PlanContext, startJob } from "../backfill/plan-context.ts";
import { startNow } from "../backfill/start-now.ts";
import { type Job, toJob } from "../fit/job.ts";
import { compareSubmission } from "../input/pending-order.ts";
import { isFeasible } from "../place/feasibility.ts";
import type { Draft } from "../plan/draft.ts";
import type { ReservedInterval } from "../plan/reserved-intervals.ts";

/** Returns the allocations that still wait for their nodes. */
export function startAwaiting(plan: PlanContext): ReadonlySet<AllocationId> {
  const { draft, input } = plan;
  const awaited = new Set<AllocationId>();
  if (input.awaiting === undefined || input.awaiting.length === 0) return awaited;
  for (const { own, nodes } of input.awaiting) if (!own) reserveIndefinitely(draft, nodes);
  const freedFor = new Map(input.awaiting.filter(({ own }) => own).map((own) => [own.allocation, own.nodes]));
  const waiting = input.pending.filter(({ id }) => freedFor.has(id)).sort(compareSubmission);
  const reserved = waiting.map(({ id }) => reserveIndefinitely(draft, freedFor.get(id) ?? []));
  for (const [at, pending] of waiting.entries()) {
    const job = toJob(draft.machine, pending, input.signals);
    const own = reserved[at] as ReservedInterval;
    draft.reservedIntervals.remove(own);
    const nodes = nodesNow(plan, job);
    if (nodes !== null) startJob(plan, job, nodes);
    else {
      awaited.add(pending.id);
      draft.reservedIntervals.add(own);
    }
  }
  return awaited;
}

function nodesNow({ draft, quotas }: PlanContext, job: Job): readonly number[] | null {
  // One of its required nodes may be gone since its victims were chosen.
  if (!isFeasible(draft.machine, job)) return null;
  const { tenant, maxNodes } = job.input;
  const headroom = quotas.headroom(tenant, job.nodesNeeded);
  return headroom === 0 ? null : startNow(draft, job, Math.min(maxNodes, headroom));
}

function reserveIndefinitely(draft: Draft, ids: readonly NodeId[]): ReservedInterval {
  const nodes = ids.flatMap((id) => draft.machine.indexOf.get(id) ?? []).sort((a, b) => a - b);
  const interval: ReservedInterval = { startsAt: draft.now, endsAt: Number.POSITIVE_INFINITY, nodes };
  draft.reservedIntervals.add(interval);
  return interval;
}
