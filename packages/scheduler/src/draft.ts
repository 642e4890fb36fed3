// The plan while it is being made: which nodes of each cell are still free, from when the others can be
// had, and which reservations stand. The only mutable value of a cycle; steps read it, `cycle.ts` and
// `commit` below change it.

import type { AllocationId, Instant } from "@lattice/core";
import { putBit } from "./bits.ts";
import { type Budgets, budgetsOf } from "./budgets.ts";
import type { CycleInput } from "./cycle-types.ts";
import type { Begun, Held, Spare } from "./held.ts";
import { createHolds, type Holds } from "./holds.ts";
import type { Job } from "./job.ts";
import type { Machine } from "./machine/machine.ts";
import { type Tiers, tiersOf } from "./place/tiers.ts";
import type { ComingBack, Returning, Returns } from "./returns.ts";
import type { Space } from "./space.ts";

export type { Held } from "./held.ts";

export interface Draft {
  readonly machine: Machine;
  readonly now: Instant;
  /** As in the machine, moved on by what this plan starts. */
  readonly availableFrom: Float64Array;
  /** One bit for each node that is still free. */
  readonly free: Uint32Array;
  readonly freeIn: Int32Array;
  readonly freeOfKind: Int32Array;
  /** By cell, for counting. */
  readonly scratch: Int32Array;
  /** By bit, likewise. */
  readonly bits: Uint32Array;
  freeCount: number;
  /** In the order in which they were made. */
  held: readonly Held[];
  readonly holds: Holds;
  readonly budgets: Budgets | null;
  readonly tiers: Tiers;
  readonly space: Space;
  /** Made when first needed. */
  comingBack: ComingBack | null;
  /** Nodes whose `availableFrom` is not that of the machine, or was not for the time of a trial. */
  readonly moved: number[];
  /** Nodes that this plan has given away, or has somebody stay on for longer. */
  readonly started: number[];
  readonly placed: Set<AllocationId>;
  /** The same by start: how many nodes, until when. */
  readonly begun: Begun[];
  /** Other vClusters hold some of these nodes. */
  hasForeign: boolean;
  /** Made when first needed, and anew when a start or a reservation has changed the draft. */
  spare: Spare | null;
  returns: Returns | null;
  /** What they are made of in a cycle that nobody asks about later; null: the nodes themselves. */
  readonly returning: Returning | null;
  /** Tries to move reservations that are left. */
  movesLeft: number;
}

export interface Making {
  readonly space: Space;
  readonly movesLeft: number;
}

export function draftOf(machine: Machine, input: CycleInput, { space, movesLeft }: Making): Draft {
  const { cells } = machine;
  const { plannedFree: free, plannedFrom: availableFrom } = space;
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
    bits: space.bits,
    freeCount: machine.freeCount,
    held: [],
    holds: createHolds(machine, space),
    budgets: budgetsOf(input, machine),
    tiers: tiersOf(machine, input.pending),
    space,
    comingBack: null,
    moved: [],
    started: [],
    placed: new Set(),
    begun: [],
    hasForeign: false,
    spare: null,
    returns: input.report === "none" ? null : (input.ground?.returning.from(input.now) ?? null),
    returning: input.ground?.returning ?? null,
    movesLeft,
  };
}

export const isFree = (draft: Draft, node: number): boolean => (draft.availableFrom[node] as number) <= draft.now;

/** Free nodes of the hardware it asks for: the quickest thing to know about a start. */
export function freeOfMatch(draft: Draft, { match }: Job): number {
  let free = 0;
  for (let kind = 0; kind < match.kinds.length; kind += 1) {
    if (match.kinds[kind] === 1) free += draft.freeOfKind[kind] as number;
  }
  return free;
}

/** Gives the nodes to the job from now on. */
export function commit(draft: Draft, job: Job, nodes: readonly number[]): void {
  const { cells } = draft.machine;
  for (const node of nodes) {
    const cell = cells.ofNode[node] as number;
    removeFree(draft, cell, node);
    draft.availableFrom[node] = draft.now + job.occupies;
    draft.started.push(node);
    draft.moved.push(node);
  }
  draft.holds.recount(nodes);
  draft.freeCount -= nodes.length;
  draft.budgets?.charge(job, nodes);
  draft.placed.add(job.input.id);
  draft.begun.push({ endsAt: draft.now + job.occupies, nodes: nodes.length });
  draft.spare = null;
}

/** It joins others on their node, which comes back when the last of them is gone. */
export function commitJoin(draft: Draft, job: Job, node: number): void {
  draft.placed.add(job.input.id);
  const endsAt = draft.now + job.occupies;
  if (endsAt <= (draft.availableFrom[node] as number)) return;
  draft.availableFrom[node] = endsAt;
  if (!draft.started.includes(node)) draft.started.push(node);
  draft.moved.push(node);
  // No node more, but an instant at which one comes back.
  draft.begun.push({ endsAt, nodes: 0 });
  draft.spare = null;
}

/** As if the job had not been given them; only for what this plan has started, and without budgets. */
export function takeBack(draft: Draft, job: Job, nodes: readonly number[]): void {
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
  for (const list of [draft.started, draft.moved]) {
    const rest = list.filter((node) => !gone.has(node));
    list.length = 0;
    for (const node of rest) list.push(node);
  }
  draft.holds.recount(nodes);
  draft.freeCount += nodes.length;
  draft.placed.delete(job.input.id);
  const at = draft.begun.findLastIndex((one) => one.nodes === nodes.length && one.endsAt === draft.now + job.occupies);
  if (at >= 0) draft.begun.splice(at, 1);
  draft.spare = null;
}

function removeFree({ machine, free, freeIn, freeOfKind }: Draft, cell: number, node: number): void {
  putBit(free, node, false);
  freeIn[cell] = (freeIn[cell] as number) - 1;
  const kind = machine.cells.kindOf[cell] as number;
  freeOfKind[kind] = (freeOfKind[kind] as number) - 1;
}
