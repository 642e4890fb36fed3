// Reservations: the earliest start of an allocation that cannot start now, and its nodes, from the
// profile of expected releases. A reservation overlaps no other in time and nodes. Among equally
// good nodes it holds those that come back last, so that what is free now stays open to backfill.

import type { Instant } from "@lattice/core";
import type { Draft, Held } from "./draft.ts";
import { askOf, type Job } from "./job.ts";
import { choose } from "./place/choose.ts";
import { sweep } from "./profile.ts";
import { openAt, takeAt } from "./supply.ts";

/** Null when no known release brings enough nodes back, or none before the instant that is of any use. */
export function reserve(draft: Draft, job: Job, before = Number.POSITIVE_INFINITY): Held | null {
  let found: Held | null = null;
  const ask = askOf(draft.machine, job, job.least, draft.tiers);
  sweep(draft, job, (startsAt, supply) => {
    if (startsAt >= before) return true;
    if (draft.budgets !== null && draft.budgets.most(job, job.least, startsAt, startsAt + job.occupies) < job.least) {
      return false;
    }
    const picks = choose(draft.machine, supply, ask);
    if (picks === null) return false;
    const nodes = takeAt(draft, job, startsAt, picks);
    found = { job, startsAt: startsAt as Instant, endsAt: startsAt + job.occupies, nodes };
    return true;
  });
  return found;
}

/** The nodes on which the job could begin at that instant, or null. */
export function nodesAt(draft: Draft, job: Job, startsAt: number): readonly number[] | null {
  const supply = openAt(draft, job, startsAt);
  if (supply === null || supply.total + (job.match.required?.length ?? 0) < job.least) return null;
  const picks = choose(draft.machine, supply, askOf(draft.machine, job, job.least));
  return picks === null ? null : takeAt(draft, job, startsAt, picks);
}

export function hold(draft: Draft, held: Held): void {
  draft.held = [...draft.held, held];
  draft.holds.add(held);
  draft.budgets?.reserve(held.job, held.startsAt, held.endsAt);
}

export function letGo(draft: Draft, held: Held): void {
  draft.held = draft.held.filter((other) => other !== held);
  draft.holds.remove(held);
  draft.budgets?.release(held.job);
}
