// The plan while it is being made: which nodes of each cell are still free, from when the others can be
// had, and which reservations stand. The only mutable value of a cycle; steps read it, `cycle.ts` and
// `commit` below change it.

import type { AllocationId, Instant } from "@lattice/core";
import { type Budgets, budgetsOf } from "./budgets.ts";
import type { CycleInput } from "./cycle-types.ts";
import type { Begun, Held, Spare } from "./held.ts";
import { createHolds, type Holds } from "./holds.ts";
import type { Job } from "./job.ts";
import type { Machine } from "./machine/machine.ts";
import { type Tiers, tiersOf } from "./place/tiers.ts";
import type { Returns } from "./returns.ts";
import type { Space } from "./space.ts";

export type { Held } from "./held.ts";

export interface Draft {
  readonly machine: Machine;
  readonly now: Instant;
  /** As in the machine, moved on by what this plan starts. */
  readonly availableFrom: Float64Array;
  /** Free nodes of each cell, lowest number last, in the first `freeIn[cell]` places from its start. */
  readonly freeNodes: Int32Array;
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
  /** Nodes busy before this plan, by when they come back; made when first needed. */
  comingBack: Int32Array | null;
  /** Nodes that this plan has given away. */
  readonly started: number[];
  readonly placed: Set<AllocationId>;
  /** The same by start: how many nodes, until when. */
  readonly begun: Begun[];
  /** Other vClusters hold some of these nodes. */
  hasForeign: boolean;
  /** Made when first needed, and anew when a start or a reservation has changed the draft. */
  spare: Spare | null;
  returns: Returns | null;
  /** Tries to move reservations that are left. */
  movesLeft: number;
}

export interface Making {
  readonly space: Space;
  readonly movesLeft: number;
}

export function draftOf(machine: Machine, input: CycleInput, { space, movesLeft }: Making): Draft {
  const { cells } = machine;
  const { freeNodes, plannedFrom: availableFrom } = space;
  availableFrom.set(machine.availableFrom);
  const freeIn = new Int32Array(cells.count);
  const freeOfKind = new Int32Array(machine.kinds.length);
  for (let cell = 0; cell < cells.count; cell += 1) {
    const start = cells.start[cell] as number;
    let free = 0;
    for (let at = (cells.start[cell + 1] as number) - 1; at >= start; at -= 1) {
      const node = cells.nodes[at] as number;
      if (machine.free[node] !== 1) continue;
      freeNodes[start + free] = node;
      free += 1;
    }
    freeIn[cell] = free;
    const kind = cells.kindOf[cell] as number;
    freeOfKind[kind] = (freeOfKind[kind] as number) + free;
  }
  return {
    machine,
    now: input.now,
    availableFrom,
    freeNodes,
    freeIn,
    freeOfKind,
    scratch: new Int32Array(cells.count),
    bits: space.bits,
    freeCount: machine.freeCount,
    held: [],
    holds: createHolds(machine, availableFrom, input.now, space),
    budgets: budgetsOf(input, machine),
    tiers: tiersOf(machine, input.pending),
    comingBack: null,
    started: [],
    placed: new Set(),
    begun: [],
    hasForeign: false,
    spare: null,
    returns: input.ground?.returning.from(input.now) ?? null,
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
    draft.holds.recount(node);
    draft.started.push(node);
  }
  draft.freeCount -= nodes.length;
  draft.budgets?.charge(job, nodes);
  draft.placed.add(job.input.id);
  draft.begun.push({ endsAt: draft.now + job.occupies, nodes: nodes.length });
  draft.spare = null;
}

function removeFree({ machine, freeNodes, freeIn, freeOfKind }: Draft, cell: number, node: number): void {
  const start = machine.cells.start[cell] as number;
  const end = start + (freeIn[cell] as number);
  // Mostly the last one, or close to it.
  const at = freeNodes.lastIndexOf(node, end - 1);
  freeNodes.copyWithin(at, at + 1, end);
  freeIn[cell] = (freeIn[cell] as number) - 1;
  const kind = machine.cells.kindOf[cell] as number;
  freeOfKind[kind] = (freeOfKind[kind] as number) - 1;
}
