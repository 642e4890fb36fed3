// What limits leave, by slot of time: of each tenant that has a quota, and of the pool of sensitive work. Running work gives it back
// when it ends; what this plan starts and has reserved uses it up. For estimates alone: a cycle starts by what is left now.

import type { CycleInput, TenantInput } from "./cycle-types.ts";
import type { Draft } from "./draft.ts";
import { EXPECTED_BACK_SOON } from "./limits.ts";
import { releasedAt } from "./machine/availability.ts";
import type { Slots } from "./slots.ts";

export interface Room {
  readonly nodes: Float64Array;
  readonly allocations: Float64Array;
}

export interface Taking {
  readonly start: number;
  readonly length: number;
  readonly nodes: number;
}

/** Those that concern an allocation of the tenant; the same list for as long as it is the same tenant. */
export type RoomsOf = (tenant: string) => readonly Room[];

export function roomsOver(input: CycleInput, draft: Draft, slots: Slots): RoomsOf {
  const pool = poolRoom(input, slots, draft.now);
  const common = pool === null ? NONE : [pool];
  const limited = new Map<string, readonly Room[]>();
  for (const tenant of input.tenants) {
    if (tenant.maxNodes === null && tenant.maxConcurrentAllocations === null) continue;
    limited.set(tenant.id, [roomOf(tenant, slots.count), ...common]);
  }
  const roomsOf: RoomsOf = (tenant) => limited.get(tenant) ?? common;
  for (const { tenant, nodes, endsAt } of limited.size === 0 ? [] : input.releases) {
    const room = tenant === undefined ? undefined : limited.get(tenant)?.[0];
    if (room !== undefined) giveBack(room, slots, { at: releasedAt(endsAt, draft.now), nodes: nodes.length });
  }
  if (limited.size === 0 && pool === null) return roomsOf;
  for (const { id, tenant, minNodes, walltime } of input.pending) {
    if (!draft.placed.has(id)) continue;
    const taking = { start: 0, length: walltime ?? Number.POSITIVE_INFINITY, nodes: minNodes };
    for (const room of roomsOf(tenant)) takeRoom(room, slots, taking);
  }
  for (const { job, startsAt, nodes } of draft.held) {
    const taking = { start: slots.of(startsAt), length: job.occupies, nodes: nodes.length };
    for (const room of roomsOf(job.input.tenant)) takeRoom(room, slots, taking);
  }
  return roomsOf;
}

const NONE: readonly Room[] = [];

function roomOf(tenant: TenantInput, count: number): Room {
  const limit = (most: number | null, used: number): number => (most === null ? Number.POSITIVE_INFINITY : most - used);
  return {
    nodes: new Float64Array(count).fill(limit(tenant.maxNodes, tenant.nodesInUse)),
    allocations: new Float64Array(count).fill(limit(tenant.maxConcurrentAllocations, tenant.running)),
  };
}

/** What is held and does not run any more comes back soon. */
function poolRoom({ pool }: CycleInput, slots: Slots, now: number): Room | null {
  if (pool === undefined) return null;
  const room: Room = {
    nodes: new Float64Array(slots.count).fill(pool.limit - pool.current),
    allocations: new Float64Array(slots.count).fill(Number.POSITIVE_INFINITY),
  };
  let leaving = pool.current;
  for (const { endsAt, nodes } of pool.returns ?? []) {
    giveBack(room, slots, { at: releasedAt(endsAt, now), nodes });
    leaving -= nodes;
  }
  if (pool.returns !== undefined && leaving > 0)
    giveBack(room, slots, { at: now + EXPECTED_BACK_SOON, nodes: leaving });
  return room;
}

function giveBack(room: Room, slots: Slots, { at, nodes }: { readonly at: number; readonly nodes: number }): void {
  for (let slot = slots.firstAfter(at); slot < slots.count; slot += 1) {
    room.nodes[slot] = (room.nodes[slot] as number) + nodes;
    room.allocations[slot] = (room.allocations[slot] as number) + 1;
  }
}

/** Sums of shares are not exact. */
export const ROUNDING = 1e-6;

export const hasRoom = (room: Room, slot: number, nodes: number, share: number): boolean =>
  (room.nodes[slot] as number) + ROUNDING >= nodes * share && (room.allocations[slot] as number) + ROUNDING >= share;

export function takeRoom(room: Room, slots: Slots, { start, length, nodes }: Taking): void {
  const end = slots.endOf(start, length);
  for (let slot = start; slot < end; slot += 1) {
    const share = slot + 1 < end ? 1 : slots.lastShare(start, length);
    room.nodes[slot] = (room.nodes[slot] as number) - nodes * share;
    room.allocations[slot] = (room.allocations[slot] as number) - share;
  }
}
