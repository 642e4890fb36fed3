// Reservations: the earliest start of an allocation that cannot start now, and its nodes, from the
// profile of expected releases. A reservation overlaps no other in time and nodes. Among equally
// good nodes it holds those that come back last, so that what is free now stays open to backfill.

import type { Instant } from "@lattice/core";
import type { Draft, Held } from "./draft.ts";
import { askOf, type Job } from "./job.ts";
import { choose } from "./place/choose.ts";
import { sweep } from "./profile.ts";
import { spareOf } from "./spare.ts";
import { openAt, takeOpen } from "./supply.ts";

/** Null when no known release brings enough nodes back, or none before the instant that is of any use. */
export function reserve(draft: Draft, job: Job, before = Number.POSITIVE_INFINITY): Held | null {
  if (draft.budgets !== null || draft.hasForeign) return reserveBySweep(draft, job, before);
  const found = reserveByNumber(draft, job, before);
  return found === "hard" ? reserveBySweep(draft, job, before) : found;
}

/** Instants looked at before the profile is walked as a whole, which costs as much as about so many. */
const LOOK_LIMIT = 512;

/** And those of them for which nodes are chosen, which costs a good part more. */
const CHOICE_LIMIT = 64;

/** Looks only at instants when there are enough nodes by number; hard when the first few of them do not do. */
function reserveByNumber(draft: Draft, job: Job, end: number): Held | null | "hard" {
  const spare = spareOf(draft);
  const ask = askOf(draft.machine, job, job.least, draft.tiers);
  const { turns } = spare;
  let looked = 0;
  let chosen = 0;
  let before: number = draft.now;
  for (let turn = 0; turn < turns.length; turn += 1) {
    const startsAt = turns[turn] as number;
    if (startsAt >= end || startsAt === Number.POSITIVE_INFINITY) return null;
    if (startsAt <= before || !spare.couldBegin(job, turn)) continue;
    before = startsAt;
    if (looked === LOOK_LIMIT || chosen === CHOICE_LIMIT) return "hard";
    looked += 1;
    const supply = openAt(draft, job, startsAt);
    if (supply === null) continue;
    chosen += 1;
    const picks = choose(draft.machine, supply, ask);
    if (picks === null) continue;
    const nodes = takeOpen(draft, job, picks);
    return { job, startsAt: startsAt as Instant, endsAt: startsAt + job.occupies, nodes };
  }
  return null;
}

function reserveBySweep(draft: Draft, job: Job, before: number): Held | null {
  let found: Held | null = null;
  const ask = askOf(draft.machine, job, job.least, draft.tiers);
  sweep(draft, job, (startsAt, supply) => {
    if (startsAt >= before) return true;
    if (draft.budgets !== null && draft.budgets.most(job, job.least, startsAt, startsAt + job.occupies) < job.least) {
      return false;
    }
    const picks = choose(draft.machine, supply, ask);
    if (picks === null) return false;
    openAt(draft, job, startsAt);
    const nodes = takeOpen(draft, job, picks);
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
  return picks === null ? null : takeOpen(draft, job, picks);
}

export function hold(draft: Draft, held: Held): void {
  draft.held = [...draft.held, held];
  draft.spare = null;
  draft.holds.add(held);
  draft.budgets?.reserve(held.job, held.startsAt, held.endsAt);
}

export function letGo(draft: Draft, held: Held): void {
  draft.held = draft.held.filter((other) => other !== held);
  draft.spare = null;
  draft.holds.remove(held);
  draft.budgets?.release(held.job);
}
