// An expected start for everyone who waits without a reservation: a coarse replay of the queue over counts
// of nodes by kind of hardware. Time is cut into slots that grow with their distance, so that an
// estimate is good to a few per cent of the wait. Each allocation, in order of the queue, takes the first
// slots with enough nodes and quota for as long as it runs, and of its last slot only the share that it
// reaches into, so that many short ones share a long slot. Groups and conformance are left out.

import type { Instant } from "@lattice/core";
import type { CycleInput, TenantInput } from "./cycle-types.ts";
import type { Draft } from "./draft.ts";
import type { Job } from "./job.ts";
import { EXPECTED_BACK_SOON } from "./limits.ts";
import { releasedAt } from "./machine/availability.ts";
import { createSlots, type Slots } from "./slots.ts";

export interface Estimator {
  /** The expected start of the next in the queue; null when none can be expected. */
  next(job: Job): Instant | null;
}

export function createEstimator(input: CycleInput, draft: Draft): Estimator {
  const slots = createSlots(draft.now);
  const free = freeNodes(draft, slots);
  const solid = free.slice();
  const headroom = headrooms(input, draft, slots);
  return {
    next(job) {
      const kinds = kindsOf(job);
      if (kinds.length === 0) return null;
      const room = headroom.get(job.input.tenant);
      const ground = { slots, free, solid, kinds, room: room ?? null };
      const start = firstFit(ground, job);
      if (start === null) return null;
      const startsAt = slots.at(start) + waitWithin(ground, { start, length: job.occupies });
      take(ground, { start, length: job.occupies, nodes: job.least });
      return Math.round(Math.max(startsAt, draft.now + (start === 0 ? EXPECTED_BACK_SOON : 0))) as Instant;
    },
  };
}

/** Free nodes by kind and slot. */
function freeNodes(draft: Draft, slots: Slots): Float64Array {
  const { machine, availableFrom } = draft;
  const { count } = slots;
  const free = new Float64Array(machine.kinds.length * count);
  const { ofNode } = machine.cells;
  let lastAt = Number.NaN;
  let lastSlot = 0;
  for (let node = 0; node < availableFrom.length; node += 1) {
    const at = availableFrom[node] as number;
    if (at === Number.POSITIVE_INFINITY || (ofNode[node] as number) < 0) continue;
    if (at !== lastAt) [lastAt, lastSlot] = [at, slots.firstAfter(at)];
    if (lastSlot < count) {
      const place = (machine.kindOf[node] as number) * count + lastSlot;
      free[place] = (free[place] as number) + 1;
    }
  }
  for (let at = 0; at < free.length; at += 1) {
    if (at % count !== 0) free[at] = (free[at] as number) + (free[at - 1] as number);
  }
  for (const { nodes, startsAt, endsAt } of draft.held) {
    const [start, end] = [slots.of(startsAt), slots.firstAfter(endsAt)];
    for (const node of nodes) {
      const row = (machine.kindOf[node] as number) * count;
      for (let slot = start; slot < Math.min(end, count); slot += 1) {
        free[row + slot] = (free[row + slot] as number) - 1;
      }
    }
  }
  return free;
}

interface Room {
  readonly nodes: Float64Array;
  readonly allocations: Float64Array;
}

/** What each limited tenant may still use, by slot. */
function headrooms(input: CycleInput, draft: Draft, slots: Slots): Map<string, Room> {
  const rooms = new Map<string, Room>();
  for (const tenant of input.tenants) {
    if (tenant.maxNodes === null && tenant.maxConcurrentAllocations === null) continue;
    rooms.set(tenant.id, roomOf(tenant, slots.count));
  }
  if (rooms.size === 0) return rooms;
  for (const { tenant, nodes, endsAt } of input.releases) {
    const room = tenant === undefined ? undefined : rooms.get(tenant);
    if (room === undefined) continue;
    const start = slots.firstAfter(releasedAt(endsAt, draft.now));
    for (let slot = start; slot < slots.count; slot += 1) {
      room.nodes[slot] = (room.nodes[slot] as number) + nodes.length;
      room.allocations[slot] = (room.allocations[slot] as number) + 1;
    }
  }
  for (const { id, tenant, minNodes, walltime } of input.pending) {
    const room = rooms.get(tenant);
    if (room === undefined || !draft.placed.has(id)) continue;
    takeRoom(room, slots, { start: 0, length: walltime ?? Number.POSITIVE_INFINITY, nodes: minNodes });
  }
  return rooms;
}

function roomOf(tenant: TenantInput, count: number): Room {
  const limit = (most: number | null, used: number): number => (most === null ? Number.POSITIVE_INFINITY : most - used);
  return {
    nodes: new Float64Array(count).fill(limit(tenant.maxNodes, tenant.nodesInUse)),
    allocations: new Float64Array(count).fill(limit(tenant.maxConcurrentAllocations, tenant.running)),
  };
}

function kindsOf({ match }: Job): number[] {
  const kinds: number[] = [];
  for (let kind = 0; kind < match.kinds.length; kind += 1) if (match.kinds[kind] === 1) kinds.push(kind);
  return kinds;
}

interface Ground {
  readonly slots: Slots;
  /** Nodes by kind and slot that are free on average. */
  readonly free: Float64Array;
  /** Those that nobody has for the whole of the slot: so many may run side by side. */
  readonly solid: Float64Array;
  readonly kinds: readonly number[];
  readonly room: Room | null;
}

/** Sums of shares are not exact. */
const ROUNDING = 1e-6;

/** The first slot from which enough is there until the job would end. */
function firstFit({ slots, free, solid, kinds, room }: Ground, { least, occupies }: Job): number | null {
  const { count } = slots;
  let start = 0;
  let end = slots.endOf(0, occupies);
  for (let slot = 0; slot < count; slot += 1) {
    const share = slot + 1 < end ? 1 : slots.lastShare(start, occupies);
    let there = ROUNDING;
    let abreast = ROUNDING;
    for (let i = 0; i < kinds.length; i += 1) {
      const place = (kinds[i] as number) * count + slot;
      there += free[place] as number;
      abreast += solid[place] as number;
    }
    // A short one may reach a little into the next slot: on average it is as often the other way round.
    const needed = least * (end - start === 1 ? share / 2 : share);
    if (there < needed || abreast < least || (room !== null && !hasRoom(room, slot, least, share))) {
      start = slot + 1;
      end = start < count ? slots.endOf(start, occupies) : count;
    } else if (slot + 1 >= end) return start;
  }
  return start < count ? start : null;
}

const hasRoom = (room: Room, slot: number, nodes: number, share: number): boolean =>
  (room.nodes[slot] as number) + ROUNDING >= nodes * share && (room.allocations[slot] as number) + ROUNDING >= share;

interface Taking {
  readonly start: number;
  readonly length: number;
  readonly nodes: number;
}

/** A short one begins where those before it in the same slot end. */
function waitWithin({ slots, free, solid, kinds }: Ground, { start, length }: Omit<Taking, "nodes">): number {
  if (length >= slots.width(start)) return 0;
  let left = 0;
  let had = 0;
  for (const kind of kinds) {
    left += free[kind * slots.count + start] as number;
    had += solid[kind * slots.count + start] as number;
  }
  return had <= 0 ? 0 : Math.max(0, Math.min(1, 1 - left / had)) * (slots.width(start) - length);
}

function take({ slots, free, solid, kinds, room }: Ground, taking: Taking): void {
  const end = slots.endOf(taking.start, taking.length);
  for (let slot = taking.start; slot < end; slot += 1) {
    const share = slot + 1 < end ? 1 : slots.lastShare(taking.start, taking.length);
    takeNodes(free, kinds, slots.count, slot, taking.nodes * share);
    if (share === 1) takeNodes(solid, kinds, slots.count, slot, taking.nodes);
  }
  if (room !== null) takeRoom(room, slots, taking);
}

/** Kind by kind; what is missing in the end is owed by the last. */
function takeNodes(free: Float64Array, kinds: readonly number[], count: number, slot: number, nodes: number): void {
  let missing = nodes;
  for (let i = 0; i < kinds.length && missing > 0; i += 1) {
    const place = (kinds[i] as number) * count + slot;
    const there = Math.max(0, free[place] as number);
    const taken = i === kinds.length - 1 ? missing : Math.min(missing, there);
    free[place] = (free[place] as number) - taken;
    missing -= taken;
  }
}

function takeRoom(room: Room, slots: Slots, { start, length, nodes }: Taking): void {
  const end = slots.endOf(start, length);
  for (let slot = start; slot < end; slot += 1) {
    const share = slot + 1 < end ? 1 : slots.lastShare(start, length);
    room.nodes[slot] = (room.nodes[slot] as number) - nodes * share;
    room.allocations[slot] = (room.allocations[slot] as number) - share;
  }
}
