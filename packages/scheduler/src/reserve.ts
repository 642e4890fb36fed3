// Reservations: the earliest start of an allocation that cannot start now, and its nodes, from the
// profile of expected releases. A reservation overlaps no other in time and nodes. Among equally
// good nodes it holds those that come back last, so that what is free now stays open to backfill.

import type { Instant } from "@lattice/core";
import { type Draft, type Held, type Job, wantedOf } from "./draft.ts";
import { place } from "./place.ts";

/** Null when no known release brings enough nodes back. */
export function reserve(draft: Draft, job: Job): Held | null {
  for (const startsAt of possibleStarts(draft, job)) {
    const nodes = nodesAt(draft, { job, startsAt, others: draft.held });
    if (nodes !== null) return { job, startsAt, endsAt: startsAt + job.occupies, nodes };
  }
  return null;
}

export interface Spot {
  readonly job: Job;
  readonly startsAt: Instant;
  /** Reservations that must stay whole. */
  readonly others: readonly Held[];
}

/** The nodes on which the job could begin at that instant, or null. */
export function nodesAt(draft: Draft, { job, startsAt, others }: Spot): readonly number[] | null {
  const endsAt = startsAt + job.occupies;
  const taken = new Set<number>();
  for (const other of others) {
    if (other.startsAt < endsAt && startsAt < other.endsAt) for (const node of other.nodes) taken.add(node);
  }
  const from = draft.availableFrom;
  const open = job.match.nodes.filter((node) => (from[node] ?? 0) <= startsAt && !taken.has(node));
  if (open.length < job.least) return null;
  open.sort((a, b) => (from[b] ?? 0) - (from[a] ?? 0) || a - b);
  return place(draft.machine, open, wantedOf(job, job.least));
}

/** Instants at which something becomes available, ascending, from the first with enough nodes back. */
function possibleStarts(draft: Draft, job: Job): Instant[] {
  const from = (node: number): number => draft.availableFrom[node] ?? 0;
  const times = job.match.nodes
    .map(from)
    .filter(Number.isFinite)
    .sort((a, b) => a - b);
  const enough = times[job.least - 1];
  if (enough === undefined) return [];
  const earliest = Math.max(enough, ...(job.match.required ?? []).map(from));
  const ends = draft.held.map((held) => held.endsAt);
  const starts = new Set([earliest, ...times, ...ends].filter((at) => at >= earliest && Number.isFinite(at)));
  return [...starts].sort((a, b) => a - b) as Instant[];
}
