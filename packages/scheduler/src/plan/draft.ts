// The plan in progress: which nodes of each cell are still free, when the others are available, and the reservations.
// The only mutable value of a cycle; the functions below and `reserve.ts` change it.

import type { AllocationId, Instant } from "@lattice/core";
import { putBit } from "../base/bits.ts";
import { createTiers, type HardwareTiers } from "../fit/demand.ts";
import type { Job } from "../fit/job.ts";
import type { CycleInput, ForeignReservation } from "../input/cycle-input.ts";
import type { ReleaseTally, ReleaseTimes } from "../input/releases.ts";
import { type Budgets, createBudgets } from "../limits/budgets.ts";
import type { Machine } from "../machine/machine.ts";
import type { PlanBuffers } from "../machine/plan-buffers.ts";
import type { PlannedReservation, PlannedStart, ReleaseOrder, SpareNodes } from "./planned-reservation.ts";
import { ReservedIntervals } from "./reserved-intervals.ts";

export interface Draft {
  readonly machine: Machine;
  readonly now: Instant;
  /** As in the machine, with the starts of this plan. */
  readonly availableFrom: Float64Array;
  /** One bit for each node that is still free. */
  readonly free: Uint32Array;
  readonly freeIn: Int32Array;
  readonly freeOfKind: Int32Array;
  /** Scratch counts by cell. */
  readonly scratch: Int32Array;
  /** Scratch bits by node. */
  readonly bits: Uint32Array;
  freeCount: number;
  /** In the order of their creation. */
  reservations: readonly PlannedReservation[];
  readonly reservedIntervals: ReservedIntervals;
  readonly budgets: Budgets | null;
  readonly tiers: HardwareTiers;
  readonly buffers: PlanBuffers;
  /** Created on demand. */
  releaseOrder: ReleaseOrder | null;
  /** Nodes whose `availableFrom` differs from the machine's, also for the duration of a trial. */
  readonly changedNodes: number[];
  /** Nodes that this plan has started work on, or that shared work occupies longer. */
  readonly startedNodes: number[];
  readonly placed: Set<AllocationId>;
  /** The starts of this plan: how many nodes, until when. */
  readonly starts: PlannedStart[];
  /** Other vClusters have reservations on these nodes. */
  hasForeignReservations: boolean;
  /** Of other vClusters, which keep quota. */
  readonly foreignReservations: ForeignReservation[];
  /** Created on demand, and again after a start or a reservation. */
  spare: SpareNodes | null;
  releaseTimes: ReleaseTimes | null;
  /** Maintained across cycles; `null` when the release times come from the nodes. */
  readonly releaseTally: ReleaseTally | null;
  /** Remaining attempts to move reservations. */
  movesLeft: number;
}

interface DraftOptions {
  readonly buffers: PlanBuffers;
  readonly movesLeft: number;
}

export function createDraft(machine: Machine, input: CycleInput, { buffers, movesLeft }: DraftOptions): Draft {
  const { cells } = machine;
  const { plannedFree: free, plannedFrom: availableFrom } = buffers;
  availableFrom.set(machine.availableFrom);
  free.set(machine.free);
  const freeOfKind = new Int32Array(machine.kinds.length);
  for (let cell = 0; cell < cells.count; cell += 1) {
    const kind = cells.kindOf[cell] as number;
    freeOfKind[kind] = (freeOfKind[kind] as number) + (machine.freeIn[cell] as number);
  }
  return {
    machine,
    now: input.now,
    availableFrom,
    free,
    freeIn: machine.freeIn.slice(),
    freeOfKind,
    scratch: new Int32Array(cells.count),
    bits: buffers.bits,
    freeCount: machine.freeCount,
    reservations: [],
    reservedIntervals: new ReservedIntervals(machine, buffers),
    budgets: createBudgets(input, machine),
    tiers: createTiers(machine, input.pending),
    buffers,
    releaseOrder: null,
    changedNodes: [],
    startedNodes: [],
    placed: new Set(),
    starts: [],
    hasForeignReservations: false,
    foreignReservations: [],
    spare: null,
    releaseTimes: input.report === "none" ? null : (input.prepared?.releaseTally.timesFrom(input.now) ?? null),
    releaseTally: input.prepared?.releaseTally ?? null,
    movesLeft,
  };
}

export const isFree = (draft: Draft, node: number): boolean => (draft.availableFrom[node] as number) <= draft.now;

/** Counts the free nodes of matching hardware: the cheapest check of a start. */
export function countFreeMatching(draft: Draft, { match }: Job): number {
  let free = 0;
  for (let kind = 0; kind < match.kinds.length; kind += 1) {
    if (match.kinds[kind] === 1) free += draft.freeOfKind[kind] as number;
  }
  return free;
}

/** Occupies the nodes from now on. */
export function commitStart(draft: Draft, job: Job, nodes: readonly number[]): void {
  const { cells } = draft.machine;
  for (const node of nodes) {
    const cell = cells.ofNode[node] as number;
    removeFree(draft, cell, node);
    draft.availableFrom[node] = draft.now + job.occupancy;
    draft.startedNodes.push(node);
    draft.changedNodes.push(node);
  }
  draft.reservedIntervals.invalidateCounts(nodes);
  draft.freeCount -= nodes.length;
  draft.budgets?.charge(job, nodes);
  draft.placed.add(job.input.id);
  draft.starts.push({ endsAt: draft.now + job.occupancy, nodes: nodes.length });
  draft.spare = null;
}

/** Adds the job to a shared node, which is released after the last of its jobs. */
export function commitShared(draft: Draft, job: Job, node: number): void {
  draft.placed.add(job.input.id);
  const endsAt = draft.now + job.occupancy;
  if (endsAt <= (draft.availableFrom[node] as number)) return;
  draft.availableFrom[node] = endsAt;
  if (!draft.startedNodes.includes(node)) draft.startedNodes.push(node);
  draft.changedNodes.push(node);
  // No further node, but an instant at which one is released.
  draft.starts.push({ endsAt, nodes: 0 });
  draft.spare = null;
}

/** Undoes a start of this plan; budgets are not restored. */
export function undoStart(draft: Draft, job: Job, nodes: readonly number[]): void {
  const { cells, availableFrom } = draft.machine;
  const gone = new Set(nodes);
  for (const node of nodes) {
    const cell = cells.ofNode[node] as number;
    putBit(draft.free, node, true);
    draft.freeIn[cell] = (draft.freeIn[cell] as number) + 1;
    const kind = cells.kindOf[cell] as number;
    draft.freeOfKind[kind] = (draft.freeOfKind[kind] as number) + 1;
    draft.availableFrom[node] = availableFrom[node] as number;
  }
  for (const list of [draft.startedNodes, draft.changedNodes]) {
    const rest = list.filter((node) => !gone.has(node));
    list.length = 0;
    for (const node of rest) list.push(node);
  }
  draft.reservedIntervals.invalidateCounts(nodes);
  draft.freeCount += nodes.length;
  draft.placed.delete(job.input.id);
  const at = draft.starts.findLastIndex(
    (one) => one.nodes === nodes.length && one.endsAt === draft.now + job.occupancy,
  );
  if (at >= 0) draft.starts.splice(at, 1);
  draft.spare = null;
}

function removeFree({ machine, free, freeIn, freeOfKind }: Draft, cell: number, node: number): void {
  putBit(free, node, false);
  freeIn[cell] = (freeIn[cell] as number) - 1;
  const kind = machine.cells.kindOf[cell] as number;
  freeOfKind[kind] = (freeOfKind[kind] as number) - 1;
}
