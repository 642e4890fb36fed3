// An expected start for everyone who waits without a reservation: a coarse replay of the queue over counts
// of nodes by kind of hardware. Time is cut into slots that grow with their distance, so that an
// estimate is good to a few per cent of the wait. Each allocation, in order of the queue, takes the first
// slots with enough nodes, quota and room in the pool for as long as it runs, and of its last slot only the share that it
// reaches into, so that many short ones share a long slot. Groups and conformance are left out.

import type { Instant } from "@lattice/core";
import type { CycleInput } from "./cycle-types.ts";
import type { Draft } from "./draft.ts";
import { hasRoom, ROUNDING, type Room, roomsOver, type Taking, takeRoom } from "./estimate-rooms.ts";
import type { Job } from "./job.ts";
import { EXPECTED_BACK_SOON } from "./limits.ts";
import type { Hardware } from "./machine/match.ts";
import { createSlots, type Slots } from "./slots.ts";

export interface Estimator {
  /** The expected start of the next in the queue; null when none can be expected. */
  next(job: Job): Instant | null;
}

export function createEstimator(input: CycleInput, draft: Draft): Estimator {
  const slots = createSlots(draft.now);
  const free = freeNodes(draft, slots);
  const solid = free.slice();
  const roomsOf = roomsOver(input, draft, slots);
  const grounds = new Map<Hardware, Map<readonly Room[], Ground>>();
  const groundOf = ({ match: { hardware }, input: { tenant } }: Job): Ground => {
    const rooms = roomsOf(tenant);
    const alike = grounds.get(hardware) ?? new Map<readonly Room[], Ground>();
    grounds.set(hardware, alike);
    const ground = alike.get(rooms) ?? {
      slots,
      free,
      solid,
      kinds: kindsOf(hardware),
      rooms,
      closed: new Map(),
      used: new Map(),
    };
    alike.set(rooms, ground);
    return ground;
  };
  return {
    next(job) {
      const ground = groundOf(job);
      if (ground.kinds.length === 0) return null;
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

function kindsOf({ kinds }: Hardware): number[] {
  const those: number[] = [];
  for (let kind = 0; kind < kinds.length; kind += 1) if (kinds[kind] === 1) those.push(kind);
  return those;
}

interface Ground {
  readonly slots: Slots;
  /** Nodes by kind and slot that are free on average. */
  readonly free: Float64Array;
  /** Those that nobody has for the whole of the slot: so many may run side by side. */
  readonly solid: Float64Array;
  readonly kinds: readonly number[];
  readonly rooms: readonly Room[];
  /** By number of nodes and slot: 1 where it is known not to have so many for all of it, for good, since nothing is given back. */
  readonly closed: Map<number, Uint8Array>;
  /** By size of work, nodes times time: the first slot that has so much left, of as many nodes as it may be. */
  readonly used: Map<number, number>;
}

/** The first slot from which enough is there until the job would end. */
function firstFit(ground: Ground, { least, occupies }: Job): number | null {
  const { slots } = ground;
  const { count } = slots;
  // Who fits into a slot shares it with others; who does not takes it whole.
  const wide = slots.firstAsWide(occupies);
  const left = firstWith(ground, least * occupies);
  const ends = slots.endsOf(occupies);
  const closed = ground.closed.get(least) ?? new Uint8Array(count);
  ground.closed.set(least, closed);
  let start = 0;
  while (start < count) {
    if (ends[start] === 0) ends[start] = slots.endOf(start, occupies);
    const last = Math.min(count, ends[start] as number) - 1;
    let slot = start;
    while (slot < last && closed[slot] === 0 && isOpen(ground, slot, least)) slot += 1;
    if (slot < last) closed[slot] = 1;
    else if (reaches(ground, start, last, { least, occupies })) return start;
    start = slot + 1 < wide ? slot + 1 : Math.max(slot + 1, left);
  }
  return null;
}

/** Is there enough in the last of its slots, of which it takes a share? */
function reaches(
  ground: Ground,
  start: number,
  last: number,
  { least, occupies }: Pick<Job, "least" | "occupies">,
): boolean {
  const share = ground.slots.lastShare(start, occupies);
  // A short one may reach a little into the next slot: on average it is as often the other way round.
  return isThere(ground, last, least, start === last ? share / 2 : share) && hasRooms(ground, last, least, share);
}

const isOpen = (ground: Ground, slot: number, nodes: number): boolean =>
  isThere(ground, slot, nodes, 1) && hasRooms(ground, slot, nodes, 1);

/** Sizes of work are told apart by so many steps for each doubling. */
const STEPS = 4;

/** No sooner than there is a share of a slot for it; see `firstFit` for the half. */
function firstWith({ slots, free, kinds, used }: Ground, work: number): number {
  const step = Math.floor(STEPS * Math.log2(work));
  if (!Number.isFinite(step)) return 0;
  const enough = 2 ** (step / STEPS - 1) * (1 - ROUNDING);
  let slot = used.get(step) ?? 0;
  while (slot + 1 < slots.count && (sumAt(free, kinds, slots.count, slot) + ROUNDING) * slots.width(slot) < enough)
    slot += 1;
  used.set(step, slot);
  return slot;
}

const isThere = ({ slots, free, solid, kinds }: Ground, slot: number, nodes: number, share: number): boolean =>
  sumAt(free, kinds, slots.count, slot) + ROUNDING >= nodes * share &&
  sumAt(solid, kinds, slots.count, slot) + ROUNDING >= nodes;

function hasRooms({ rooms }: Ground, slot: number, nodes: number, share: number): boolean {
  for (let i = 0; i < rooms.length; i += 1) if (!hasRoom(rooms[i] as Room, slot, nodes, share)) return false;
  return true;
}

function sumAt(row: Float64Array, kinds: readonly number[], count: number, slot: number): number {
  let sum = 0;
  for (let i = 0; i < kinds.length; i += 1) sum += row[(kinds[i] as number) * count + slot] as number;
  return sum;
}

/** A short one begins where those before it in the same slot end. */
function waitWithin({ slots, free, solid, kinds }: Ground, { start, length }: Omit<Taking, "nodes">): number {
  if (length >= slots.width(start)) return 0;
  const left = sumAt(free, kinds, slots.count, start);
  const had = sumAt(solid, kinds, slots.count, start);
  return had <= 0 ? 0 : Math.max(0, Math.min(1, 1 - left / had)) * (slots.width(start) - length);
}

function take({ slots, free, solid, kinds, rooms }: Ground, taking: Taking): void {
  const end = slots.endOf(taking.start, taking.length);
  for (let slot = taking.start; slot < end; slot += 1) {
    const share = slot + 1 < end ? 1 : slots.lastShare(taking.start, taking.length);
    takeNodes(free, kinds, slots.count, slot, taking.nodes * share);
    if (share === 1) takeNodes(solid, kinds, slots.count, slot, taking.nodes);
  }
  for (const room of rooms) takeRoom(room, slots, taking);
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
