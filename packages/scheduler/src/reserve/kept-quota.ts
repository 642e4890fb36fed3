// The quota that reservations keep. A job of the same tenant, or of the same pool, takes no quota that a reserved start
// needs, in whichever vCluster: without this rule a later arrival could use up the quota and delay the reserved start.

import type { TenantId } from "@lattice/core";
import type { Job } from "../fit/job.ts";
import type { KeptQuota, Quotas } from "../limits/quotas.ts";
import type { Draft } from "../plan/draft.ts";
import type { PlannedReservation } from "../plan/planned-reservation.ts";

/**
 * Returns how many nodes the job may take now beside the reservations that start before it ends; 0 when fewer than it
 * needs. `beside` is a further reservation, not in the draft.
 */
export function headroomNow(draft: Draft, quotas: Quotas, job: Job, beside: PlannedReservation | null = null): number {
  const { input, nodesNeeded, occupancy } = job;
  return quotas.headroom(input.tenant, nodesNeeded, keptQuota(draft, job, { before: draft.now + occupancy, beside }));
}

/** Whether the job may join a shared node now, which takes an allocation of the quota and no node. */
export function mayShare(draft: Draft, quotas: Quotas, job: Job): boolean {
  const kept = keptQuota(draft, job, { before: draft.now + job.occupancy, beside: null });
  return quotas.shortage(job.input.tenant, 0, kept) === null;
}

/** Whether the quota admits a reservation of the job, at any time, beside all other reservations. */
export function mayReserve(draft: Draft, quotas: Quotas, job: Job, beside: PlannedReservation | null = null): boolean {
  const kept = keptQuota(draft, job, { before: Number.POSITIVE_INFINITY, beside });
  return quotas.headroom(job.input.tenant, job.nodesNeeded, kept) > 0;
}

interface KeptFor {
  readonly before: number;
  readonly beside: PlannedReservation | null;
}

/** The job's own reservation keeps no quota from it. */
function keptQuota(draft: Draft, { input }: Job, { before, beside }: KeptFor): KeptQuota {
  const kept = { nodes: 0, allocations: 0, pooled: 0 };
  const add = (nodes: number, tenant: TenantId | undefined, isPooled: boolean): void => {
    if (isPooled) kept.pooled += nodes;
    if (tenant !== input.tenant) return;
    kept.nodes += nodes;
    kept.allocations += 1;
  };
  for (const { startsAt, nodes, job } of beside === null ? draft.reservations : [...draft.reservations, beside]) {
    if (startsAt < before && job.input.id !== input.id) add(nodes.length, job.input.tenant, true);
  }
  for (const { startsAt, nodes, tenant, sensitive = false } of draft.foreignReservations) {
    if (startsAt < before) add(nodes.length, tenant, sensitive);
  }
  return kept;
}
