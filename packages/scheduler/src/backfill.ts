// Start an allocation now without delaying any reserved start. It may use a held node only if it is
// gone, grace included, when the reservation begins. Where that leaves too few nodes, reservations
// may move to other nodes that are there at the same instant; a reservation's start never moves.
// Without reservations this is simply: start it if it fits.

import { type Draft, type Held, isFree, type Job, wantedOf } from "./draft.ts";
import { place } from "./place.ts";
import { nodesAt } from "./reserve.ts";

export interface Start {
  readonly nodes: readonly number[];
  /** All reservations, as they stand with this start. */
  readonly held: readonly Held[];
}

/** Null when it cannot start now. `atMost` counts the quota's headroom in. */
export function startNow(draft: Draft, job: Job, atMost: number): Start | null {
  const free = job.match.nodes.filter((node) => isFree(draft, node));
  if (free.length < job.least) return null;
  const endsAt = draft.now + job.occupies;
  const inTheWay = nodesHeldBefore(draft, endsAt);
  const open = inTheWay.size === 0 ? free : free.filter((node) => !inTheWay.has(node));
  const nodes = place(draft.machine, open, wantedOf(job, atMost));
  if (nodes !== null) return { nodes, held: draft.held };
  if (inTheWay.size === 0) return null;
  return startByMoving(draft, job, [...open, ...free.filter((node) => inTheWay.has(node))]);
}

/** Nodes of reservations that begin before `endsAt`. */
function nodesHeldBefore(draft: Draft, endsAt: number): Set<number> {
  const held = new Set<number>();
  for (const reservation of draft.held) {
    if (reservation.startsAt < endsAt) for (const node of reservation.nodes) held.add(node);
  }
  return held;
}

function startByMoving(draft: Draft, job: Job, free: readonly number[]): Start | null {
  const nodes = place(draft.machine, free, wantedOf(job, job.least));
  if (nodes === null) return null;
  const endsAt = draft.now + job.occupies;
  const before = nodes.map((node) => draft.availableFrom[node] ?? 0);
  for (const node of nodes) draft.availableFrom[node] = endsAt;
  const held = movedReservations(draft, new Set(nodes), endsAt);
  // A trial: put back what it changed, whatever came of it.
  for (const [at, node] of nodes.entries()) draft.availableFrom[node] = before[at] ?? 0;
  return held === null ? null : { nodes, held };
}

/** Every reservation at its old start, off the taken nodes; null when one finds no other place. */
function movedReservations(draft: Draft, taken: ReadonlySet<number>, endsAt: number): Held[] | null {
  const held = [...draft.held];
  for (const [at, reservation] of draft.held.entries()) {
    const clash = reservation.startsAt < endsAt && reservation.nodes.some((node) => taken.has(node));
    if (!clash) continue;
    const others = held.filter((_, index) => index !== at);
    const nodes = nodesAt(draft, { job: reservation.job, startsAt: reservation.startsAt, others });
    if (nodes === null) return null;
    held[at] = { ...reservation, nodes };
  }
  return held;
}
