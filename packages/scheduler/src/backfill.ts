// Start an allocation now without delaying any reserved start. It may use a held node only if it is
// gone, grace included, when the reservation begins. Where that leaves too few nodes, reservations of
// this plan may move to other nodes that are there at the same instant; a reservation's start never
// moves. Without reservations this is simply: start it if it fits.

import { addAll, bitsOf, clearAll, hasBit, haveCommon, putBit } from "./bits.ts";
import { type Draft, freeOfMatch, type Held } from "./draft.ts";
import { byStart } from "./held.ts";
import { askOf, type Job } from "./job.ts";
import { countByCell } from "./machine/cell-bits.ts";
import { choose } from "./place/choose.ts";
import { nodesAt } from "./reserve.ts";
import { spareOf } from "./spare.ts";
import { openNow, takeFree, takeNow } from "./supply.ts";

/** Nodes to start on, ascending; null when it cannot start now. `atMost` counts the quota's headroom in. */
export function startNow(draft: Draft, job: Job, atMost: number): readonly number[] | null {
  if (freeOfMatch(draft, job) < job.least) return null;
  const endsAt = draft.now + job.occupies;
  const most = draft.budgets === null ? atMost : draft.budgets.most(job, atMost, draft.now, endsAt);
  if (most < job.least) return null;
  if (draft.held.length > 0 && spareOf(draft).until(endsAt) < job.least) return null;
  const supply = openNow(draft, job);
  const picks = supply === null ? null : choose(draft.machine, supply, askOf(draft.machine, job, most, draft.tiers));
  if (picks !== null) return takeNow(draft, job, picks);
  return draft.held.length === 0 ? null : startByMoving(draft, job, endsAt);
}

/** Takes held nodes too, if every reservation that loses one finds another at its old start. */
function startByMoving(draft: Draft, job: Job, endsAt: number): readonly number[] | null {
  if (draft.movesLeft === 0) return null;
  const nodes = nodesRegardless(draft, job, endsAt);
  if (nodes === null) return null;
  draft.movesLeft -= 1;
  const before = nodes.map((node) => draft.availableFrom[node] as number);
  const movedBefore = draft.moved.length;
  for (const node of nodes) {
    draft.availableFrom[node] = endsAt;
    draft.moved.push(node);
  }
  const moved = moveReservations(draft, bitsOf(nodes, draft.availableFrom.length), endsAt);
  // A trial: put back what it changed, whatever came of it; `commit` makes it so.
  for (const [at, node] of nodes.entries()) draft.availableFrom[node] = before[at] as number;
  draft.moved.length = movedBefore;
  return moved ? nodes : null;
}

/** The least it needs, as if this plan had no reservations; those of other vClusters stand. */
function nodesRegardless(draft: Draft, job: Job, endsAt: number): readonly number[] | null {
  const own = new Set<unknown>(draft.held);
  const { machine, free } = draft;
  const closed = new Uint32Array(free.length);
  for (const hold of draft.holds.all()) {
    if (hold.startsAt < endsAt && !own.has(hold)) addAll(closed, bitsOf(hold.nodes, machine.nodes.length));
  }
  const required = job.match.required ?? [];
  if (!required.every((node) => hasBit(free, node) && !hasBit(closed, node))) return null;
  const open = free.slice();
  clearAll(open, closed);
  for (const node of job.match.excluded) putBit(open, node, false);
  for (const node of required) putBit(open, node, false);
  const counts = countByCell(open, machine.cells);
  const total = job.match.cells.reduce((sum, cell) => sum + (counts[cell] as number), 0);
  const picks = choose(machine, { cells: job.match.cells, counts, total }, askOf(machine, job, job.least));
  return picks === null ? null : takeFree(draft, job, picks, closed);
}

/** Every reservation at its old start, off the taken nodes. True when all found a place; else nothing has changed. */
function moveReservations(draft: Draft, taken: Uint32Array, endsAt: number): boolean {
  const held = [...draft.held].sort(byStart);
  const undo: (() => void)[] = [];
  for (const [at, reservation] of [...held].entries()) {
    const size = draft.availableFrom.length;
    const clash = reservation.startsAt < endsAt && haveCommon(bitsOf(reservation.nodes, size), taken);
    if (!clash) continue;
    draft.holds.remove(reservation);
    const nodes = nodesAt(draft, reservation.job, reservation.startsAt);
    if (nodes === null) {
      draft.holds.add(reservation);
      for (const step of undo.reverse()) step();
      return false;
    }
    const { job, startsAt, endsAt: end } = reservation;
    const moved: Held = { job, startsAt, endsAt: end, nodes };
    draft.holds.add(moved);
    held[at] = moved;
    undo.push(() => {
      draft.holds.remove(moved);
      draft.holds.add(reservation);
    });
  }
  draft.held = held;
  return true;
}
