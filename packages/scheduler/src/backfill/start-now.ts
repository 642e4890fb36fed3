// Finds nodes on which a job can start now without delaying a reserved start. A job may use a reserved node only if it
// ends, grace included, before the reservation starts. Where that leaves too few nodes, reservations of this plan may
// move to other nodes that are available at the same instant; their start never moves.

import { addAll, bitsOf, clearAll, hasBit, intersects, putBit } from "../base/bits.ts";
import type { Job } from "../fit/job.ts";
import { countCells } from "../machine/cell-bits.ts";
import { choose } from "../place/choose.ts";
import { type Supply, toNodeRequest } from "../place/node-request.ts";
import { pickFree, pickNow, supplyNow } from "../place/supply.ts";
import { countFreeMatching, type Draft } from "../plan/draft.ts";
import { compareByStart, type PlannedReservation } from "../plan/planned-reservation.ts";
import { nodesAt } from "../reserve/reserve.ts";
import { spareOf } from "../reserve/spare.ts";

/** Returns the nodes, ascending, or `null`. `atMost` includes the headroom of the quota. */
export function startNow(draft: Draft, job: Job, atMost: number): readonly number[] | null {
  if (countFreeMatching(draft, job) < job.nodesNeeded) return null;
  const endsAt = draft.now + job.occupancy;
  const most = draft.budgets === null ? atMost : draft.budgets.most(job, atMost, draft.now, endsAt);
  if (most < job.nodesNeeded) return null;
  if (draft.reservations.length > 0 && spareOf(draft).freeUntil(endsAt) < job.nodesNeeded) return null;
  const supply = supplyNow(draft, job);
  const picks =
    supply === null ? null : choose(draft.machine, supply, toNodeRequest(draft.machine, job, most, draft.tiers));
  if (picks !== null) return pickNow(draft, job, picks);
  return draft.reservations.length === 0 ? null : startByMoving(draft, job, endsAt);
}

/** Takes reserved nodes if every reservation that loses one finds another at the same start. */
function startByMoving(draft: Draft, job: Job, endsAt: number): readonly number[] | null {
  if (draft.movesLeft === 0) return null;
  const nodes = nodesIgnoringReservations(draft, job, endsAt);
  if (nodes === null) return null;
  draft.movesLeft -= 1;
  const before = nodes.map((node) => draft.availableFrom[node] as number);
  const changedBefore = draft.changedNodes.length;
  for (const node of nodes) {
    draft.availableFrom[node] = endsAt;
    draft.changedNodes.push(node);
  }
  const hasMoved = moveReservations(draft, bitsOf(nodes, draft.availableFrom.length), endsAt);
  // A trial: restore the arrays in any case; `commitStart` takes the nodes.
  for (const [at, node] of nodes.entries()) draft.availableFrom[node] = before[at] as number;
  draft.changedNodes.length = changedBefore;
  return hasMoved ? nodes : null;
}

/** The fewest nodes that suffice, as if this plan had no reservations; other vClusters' reservations stay. */
function nodesIgnoringReservations(draft: Draft, job: Job, endsAt: number): readonly number[] | null {
  const { machine, reservations } = draft;
  const others = draft.reservedIntervals
    .all()
    .filter((interval) => interval.startsAt < endsAt && !reservations.some((own) => own === interval));
  const closed = new Uint32Array(draft.free.length);
  for (const { nodes } of others) addAll(closed, bitsOf(nodes, machine.nodes.length));
  const supply = supplyOutside(draft, job, others.length === 0 ? null : closed);
  if (supply === null) return null;
  const picks = choose(machine, supply, toNodeRequest(machine, job, job.nodesNeeded));
  return picks === null ? null : pickFree(draft, job, picks, closed);
}

/** The free nodes that are not closed, without the named ones; `null` when a required node is not among them. */
function supplyOutside(
  { machine, free, freeIn, scratch }: Draft,
  { match }: Job,
  closed: Uint32Array | null,
): Supply | null {
  const { cells, excluded, required } = match;
  const named = [...excluded, ...(required ?? [])];
  let counts = freeIn;
  if (closed !== null || named.length > 0) {
    const open = free.slice();
    if (closed !== null) clearAll(open, closed);
    if (required?.every((node) => hasBit(open, node)) === false) return null;
    for (const node of named) putBit(open, node, false);
    counts = countCells(open, machine.cells, cells, scratch);
  }
  let total = 0;
  for (let i = 0; i < cells.length; i += 1) total += counts[cells[i] as number] as number;
  return { cells, counts, total };
}

/** Moves every reservation off the taken nodes, at its old start. False, and unchanged, when one finds no nodes. */
function moveReservations(draft: Draft, taken: Uint32Array, endsAt: number): boolean {
  const reservations = [...draft.reservations].sort(compareByStart);
  const undo: (() => void)[] = [];
  for (const [at, reservation] of [...reservations].entries()) {
    const size = draft.availableFrom.length;
    const clashes = reservation.startsAt < endsAt && intersects(bitsOf(reservation.nodes, size), taken);
    if (!clashes) continue;
    draft.reservedIntervals.remove(reservation);
    const nodes = nodesAt(draft, reservation.job, reservation.startsAt);
    if (nodes === null) {
      draft.reservedIntervals.add(reservation);
      for (const step of undo.reverse()) step();
      return false;
    }
    const { job, startsAt, endsAt: end } = reservation;
    const moved: PlannedReservation = { job, startsAt, endsAt: end, nodes };
    draft.reservedIntervals.add(moved);
    reservations[at] = moved;
    undo.push(() => {
      draft.reservedIntervals.remove(moved);
      draft.reservedIntervals.add(reservation);
    });
  }
  draft.reservations = reservations;
  return true;
}
