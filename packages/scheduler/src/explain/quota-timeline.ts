// The headroom of limits by time slot: of each tenant with a quota, and of the pool of sensitive work. Ends of running
// work add to it; starts and reservations of this plan reduce it. For estimates only: a cycle starts by the current
// headroom.

import { OVERDUE_RELEASE } from "../base/bounds.ts";
import type { CycleInput, TenantInput } from "../input/cycle-input.ts";
import { expectedRelease } from "../machine/availability.ts";
import type { Draft } from "../plan/draft.ts";
import type { TimeSlots } from "./time-slots.ts";

export interface QuotaTimeline {
  readonly nodes: Float64Array;
  readonly allocations: Float64Array;
}

export interface Usage {
  readonly start: number;
  readonly length: number;
  readonly nodes: number;
}

/** The timelines that apply to an allocation of the tenant; the same list for the same tenant. */
type TimelinesOf = (tenant: string) => readonly QuotaTimeline[];

export function createQuotaTimelines(input: CycleInput, draft: Draft, slots: TimeSlots): TimelinesOf {
  const pool = poolTimeline(input, slots, draft.now);
  const common = pool === null ? NONE : [pool];
  const limited = new Map<string, readonly QuotaTimeline[]>();
  for (const tenant of input.tenants) {
    if (tenant.maxNodes === null && tenant.maxConcurrentAllocations === null) continue;
    limited.set(tenant.id, [tenantTimeline(tenant, slots.count), ...common]);
  }
  const roomsOf: TimelinesOf = (tenant) => limited.get(tenant) ?? common;
  for (const { tenant, nodes, endsAt } of limited.size === 0 ? [] : input.releases) {
    const timeline = tenant === undefined ? undefined : limited.get(tenant)?.[0];
    if (timeline !== undefined)
      addRelease(timeline, slots, { at: expectedRelease(endsAt, draft.now), nodes: nodes.length });
  }
  if (limited.size === 0 && pool === null) return roomsOf;
  for (const { id, tenant, minNodes, walltime } of input.pending) {
    if (!draft.placed.has(id)) continue;
    const taking = { start: 0, length: walltime ?? Number.POSITIVE_INFINITY, nodes: minNodes };
    for (const timeline of roomsOf(tenant)) chargeUsage(timeline, slots, taking);
  }
  for (const { job, startsAt, nodes } of draft.reservations) {
    const taking = { start: slots.of(startsAt), length: job.occupancy, nodes: nodes.length };
    for (const timeline of roomsOf(job.input.tenant)) chargeUsage(timeline, slots, taking);
  }
  return roomsOf;
}

const NONE: readonly QuotaTimeline[] = [];

function tenantTimeline(tenant: TenantInput, count: number): QuotaTimeline {
  const limit = (most: number | null, used: number): number => (most === null ? Number.POSITIVE_INFINITY : most - used);
  return {
    nodes: new Float64Array(count).fill(limit(tenant.maxNodes, tenant.nodesInUse)),
    allocations: new Float64Array(count).fill(limit(tenant.maxConcurrentAllocations, tenant.running)),
  };
}

/** Claims without running work are released soon. */
function poolTimeline({ pool }: CycleInput, slots: TimeSlots, now: number): QuotaTimeline | null {
  if (pool === undefined) return null;
  const timeline: QuotaTimeline = {
    nodes: new Float64Array(slots.count).fill(pool.limit - pool.current),
    allocations: new Float64Array(slots.count).fill(Number.POSITIVE_INFINITY),
  };
  let leaving = pool.current;
  for (const { endsAt, nodes } of pool.returns ?? []) {
    addRelease(timeline, slots, { at: expectedRelease(endsAt, now), nodes });
    leaving -= nodes;
  }
  if (pool.returns !== undefined && leaving > 0)
    addRelease(timeline, slots, { at: now + OVERDUE_RELEASE, nodes: leaving });
  return timeline;
}

function addRelease(
  timeline: QuotaTimeline,
  slots: TimeSlots,
  { at, nodes }: { readonly at: number; readonly nodes: number },
): void {
  for (let slot = slots.firstAfter(at); slot < slots.count; slot += 1) {
    timeline.nodes[slot] = (timeline.nodes[slot] as number) + nodes;
    timeline.allocations[slot] = (timeline.allocations[slot] as number) + 1;
  }
}

/** Sums of parts are not exact. */
export const ROUNDING = 1e-6;

export const hasHeadroom = (timeline: QuotaTimeline, slot: number, nodes: number, share: number): boolean =>
  (timeline.nodes[slot] as number) + ROUNDING >= nodes * share &&
  (timeline.allocations[slot] as number) + ROUNDING >= share;

export function chargeUsage(timeline: QuotaTimeline, slots: TimeSlots, { start, length, nodes }: Usage): void {
  const end = slots.endOf(start, length);
  for (let slot = start; slot < end; slot += 1) {
    const share = slot + 1 < end ? 1 : slots.lastShare(start, length);
    timeline.nodes[slot] = (timeline.nodes[slot] as number) - nodes * share;
    timeline.allocations[slot] = (timeline.allocations[slot] as number) - share;
  }
}
