// Estimates the start of pending allocations without a reservation: a coarse replay of the queue over node counts by
// kind of hardware. Time is divided into slots that grow with their distance, so that an estimate is accurate to a few
// per cent of the wait. Each allocation, in queue order, takes the first slots with enough nodes, quota and pool for
// its whole run; of its last slot it takes only the part it reaches into, so that many short allocations share a long
// slot. Groups and conformance are ignored. Work is expected
// to end at its walltime: the grace after it is rarely used, and would add up over the jobs ahead.

import { type Instant, instant } from "@lattice/core";
import { OVERDUE_RELEASE, WALLTIME_GRACE } from "../base/bounds.ts";
import type { Job } from "../fit/job.ts";
import type { CycleInput } from "../input/cycle-input.ts";
import type { MatchingHardware } from "../machine/match.ts";
import type { Draft } from "../plan/draft.ts";
import {
  chargeUsage,
  createQuotaTimelines,
  hasHeadroom,
  type QuotaTimeline,
  ROUNDING,
  type Usage,
} from "./quota-timeline.ts";
import { createTimeSlots, type TimeSlots } from "./time-slots.ts";

interface Estimator {
  /** Returns the expected start of the next job in the queue, or `null`. */
  next(job: Job): Instant | null;
}

export function createEstimator(input: CycleInput, draft: Draft): Estimator {
  const slots = createTimeSlots(draft.now);
  const free = freeNodes(draft, slots);
  const solid = free.slice();
  const roomsOf = createQuotaTimelines(input, draft, slots);
  const contexts = new Map<MatchingHardware, Map<readonly QuotaTimeline[], EstimateContext>>();
  const contextOf = ({ match: { hardware }, input: { tenant } }: Job): EstimateContext => {
    const timelines = roomsOf(tenant);
    const alike = contexts.get(hardware) ?? new Map<readonly QuotaTimeline[], EstimateContext>();
    contexts.set(hardware, alike);
    const context = alike.get(timelines) ?? {
      slots,
      free,
      solid,
      kinds: kindsOf(hardware),
      timelines,
      closed: new Map(),
      used: new Map(),
    };
    alike.set(timelines, context);
    return context;
  };
  return {
    next(job) {
      const context = contextOf(job);
      if (context.kinds.length === 0) return null;
      const run = { nodesNeeded: job.nodesNeeded, length: runLength(job) };
      const start = firstFit(context, run);
      if (start === null) return null;
      const startsAt = slots.at(start) + waitWithin(context, { start, length: run.length });
      takeSlots(context, { start, length: run.length, nodes: job.nodesNeeded });
      return instant(Math.round(Math.max(startsAt, draft.now + (start === 0 ? OVERDUE_RELEASE : 0))));
    },
  };
}

/** A pending job as the replay sees it. */
interface Run {
  readonly nodesNeeded: number;
  readonly length: number;
}

const runLength = ({ occupancy }: Job): number => Math.max(1, occupancy - WALLTIME_GRACE);

/** Free nodes by kind and slot. */
function freeNodes(draft: Draft, slots: TimeSlots): Float64Array {
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
  for (const { nodes, startsAt, endsAt } of draft.reservations) {
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

function kindsOf({ kinds }: MatchingHardware): number[] {
  const those: number[] = [];
  for (let kind = 0; kind < kinds.length; kind += 1) if (kinds[kind] === 1) those.push(kind);
  return those;
}

interface EstimateContext {
  readonly slots: TimeSlots;
  /** Nodes by kind and slot that are free on average. */
  readonly free: Float64Array;
  /** Nodes that are free for the whole slot: this many jobs may run side by side. */
  readonly solid: Float64Array;
  readonly kinds: readonly number[];
  readonly timelines: readonly QuotaTimeline[];
  /**
   * By number of nodes and slot: 1 where the slot is known to have too few for all of it. Final, since nothing is
   * released.
   */
  readonly closed: Map<number, Uint8Array>;
  /** By size of work, in nodes times time: the first slot with this much left. */
  readonly used: Map<number, number>;
}

/** Returns the first slot from which enough is available until the job would end. */
function firstFit(context: EstimateContext, { nodesNeeded, length }: Run): number | null {
  const { slots } = context;
  const { count } = slots;
  // A job that fits into a slot shares it; a longer one takes it whole.
  const wide = slots.firstAsWide(length);
  const left = firstWith(context, nodesNeeded * length);
  const ends = slots.endsOf(length);
  const closed = context.closed.get(nodesNeeded) ?? new Uint8Array(count);
  context.closed.set(nodesNeeded, closed);
  let start = 0;
  while (start < count) {
    if (ends[start] === 0) ends[start] = slots.endOf(start, length);
    const last = Math.min(count, ends[start] as number) - 1;
    let slot = start;
    while (slot < last && closed[slot] === 0 && isOpen(context, slot, nodesNeeded)) slot += 1;
    if (slot < last) closed[slot] = 1;
    else if (reaches(context, start, last, { nodesNeeded, length })) return start;
    start = slot + 1 < wide ? slot + 1 : Math.max(slot + 1, left);
  }
  return null;
}

/** Whether the last of its slots, of which it takes a part, has enough. */
function reaches(context: EstimateContext, start: number, last: number, { nodesNeeded, length }: Run): boolean {
  const share = context.slots.lastShare(start, length);
  // A short job may reach a little into the next slot: on average it is as often the other way round.
  return (
    isThere(context, last, nodesNeeded, start === last ? share / 2 : share) &&
    haveHeadroom(context, last, nodesNeeded, share)
  );
}

const isOpen = (context: EstimateContext, slot: number, nodes: number): boolean =>
  isThere(context, slot, nodes, 1) && haveHeadroom(context, slot, nodes, 1);

/** Sizes of work are distinguished by this many steps for each doubling. */
const STEPS = 4;

/** The first slot with a part left for this work; `reaches` explains the half. */
function firstWith({ slots, free, kinds, used }: EstimateContext, work: number): number {
  const step = Math.floor(STEPS * Math.log2(work));
  if (!Number.isFinite(step)) return 0;
  const enough = 2 ** (step / STEPS - 1) * (1 - ROUNDING);
  let slot = used.get(step) ?? 0;
  while (slot + 1 < slots.count && (sumAt(free, kinds, slots.count, slot) + ROUNDING) * slots.width(slot) < enough)
    slot += 1;
  used.set(step, slot);
  return slot;
}

const isThere = ({ slots, free, solid, kinds }: EstimateContext, slot: number, nodes: number, share: number): boolean =>
  sumAt(free, kinds, slots.count, slot) + ROUNDING >= nodes * share &&
  sumAt(solid, kinds, slots.count, slot) + ROUNDING >= nodes;

function haveHeadroom({ timelines }: EstimateContext, slot: number, nodes: number, share: number): boolean {
  for (let i = 0; i < timelines.length; i += 1)
    if (!hasHeadroom(timelines[i] as QuotaTimeline, slot, nodes, share)) return false;
  return true;
}

function sumAt(row: Float64Array, kinds: readonly number[], count: number, slot: number): number {
  let sum = 0;
  for (let i = 0; i < kinds.length; i += 1) sum += row[(kinds[i] as number) * count + slot] as number;
  return sum;
}

/** A short job starts where the earlier jobs of the same slot end. */
function waitWithin({ slots, free, solid, kinds }: EstimateContext, { start, length }: Omit<Usage, "nodes">): number {
  if (length >= slots.width(start)) return 0;
  const left = sumAt(free, kinds, slots.count, start);
  const had = sumAt(solid, kinds, slots.count, start);
  return had <= 0 ? 0 : Math.max(0, Math.min(1, 1 - left / had)) * (slots.width(start) - length);
}

function takeSlots({ slots, free, solid, kinds, timelines }: EstimateContext, taking: Usage): void {
  const end = slots.endOf(taking.start, taking.length);
  for (let slot = taking.start; slot < end; slot += 1) {
    const share = slot + 1 < end ? 1 : slots.lastShare(taking.start, taking.length);
    takeNodes(free, kinds, slots.count, slot, taking.nodes * share);
    if (share === 1) takeNodes(solid, kinds, slots.count, slot, taking.nodes);
  }
  for (const timeline of timelines) chargeUsage(timeline, slots, taking);
}

/** Kind by kind; the last kind may go negative. */
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
