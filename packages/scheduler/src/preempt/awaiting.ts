// Starts allocations whose victims are gone, before any other. Until such an allocation can start, the nodes freed for it
// are reserved against every vCluster, and it takes no further part in the cycle, so that no second set of victims is
// stopped for it. It may start on other nodes, but delays no reserved start of its class or a higher one.

import type { AllocationId, NodeId } from "@lattice/core";
import { type PlanContext, startJob } from "../backfill/plan-context.ts";
import { startNow } from "../backfill/start-now.ts";
import { type Job, toJob } from "../fit/job.ts";
import { compareSubmission } from "../input/pending-order.ts";
import { nodeNumbersOf } from "../machine/node-ids.ts";
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
    const kept = keptStarts(plan, job, own);
    draft.reservedIntervals.remove(own);
    for (const interval of kept) draft.reservedIntervals.add(interval);
    const nodes = nodesNow(plan, job);
    for (const interval of kept) draft.reservedIntervals.remove(interval);
    if (nodes !== null) startJob(plan, job, nodes);
    else {
      awaited.add(pending.id);
      draft.reservedIntervals.add(own);
    }
  }
  return awaited;
}

/** The previous cycle's reservations that this job may not delay. The nodes that were freed for it are its own. */
function keptStarts({ draft, input }: PlanContext, job: Job, freed: ReservedInterval): readonly ReservedInterval[] {
  const previous = input.previousReservations ?? [];
  if (previous.length === 0) return [];
  const classes = new Map<AllocationId, number>();
  for (const { id, preemptionClass } of input.pending) classes.set(id, preemptionClass);
  return previous.flatMap((reservation) => {
    const { allocation, startsAt, endsAt } = reservation;
    const ownersClass = classes.get(allocation);
    if (allocation === job.input.id || ownersClass === undefined) return [];
    if (ownersClass < job.input.preemptionClass) return [];
    const nodes = nodeNumbersOf(draft.machine, reservation.nodes);
    if (nodes.some((node) => freed.nodes.includes(node))) return [];
    return [{ startsAt, endsAt: endsAt ?? Number.POSITIVE_INFINITY, nodes }];
  });
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
