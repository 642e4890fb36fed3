// Finds the earliest start of a job that cannot start now, and its nodes, from the expected releases. A reservation
// overlaps no other in time and nodes. Among equally good nodes it takes those released last, so that free nodes stay
// open to backfill.

import { instant } from "@lattice/core";
import type { Job } from "../fit/job.ts";
import { choose } from "../place/choose.ts";
import { toNodeRequest } from "../place/node-request.ts";
import { pickLatest, supplyAt } from "../place/supply.ts";
import type { Draft } from "../plan/draft.ts";
import type { PlannedReservation } from "../plan/planned-reservation.ts";
import { sweepReleases } from "./release-profile.ts";
import { spareOf } from "./spare.ts";

/** Returns a reservation that starts before `before`; `null` when no known release gives enough nodes until then. */
export function findReservation(draft: Draft, job: Job, before = Number.POSITIVE_INFINITY): PlannedReservation | null {
  // Counts of nodes leave out budgets and other vClusters' reservations.
  if (draft.budgets !== null || draft.hasForeignReservations) return searchBySweep(draft, job, before);
  const { found, isExhausted } = searchByCount(draft, job, before);
  return isExhausted ? found : searchBySweep(draft, job, before);
}

/** Instants tried before the sweep, which costs about as much as this many. */
const INSTANT_LIMIT = 512;

/** Instants for which nodes are chosen, which costs considerably more. */
const CHOICE_LIMIT = 64;

interface CountSearch {
  readonly found: PlannedReservation | null;
  /** False when the search gave up at a limit. */
  readonly isExhausted: boolean;
}

/** Tries only instants at which enough nodes are available by count. */
function searchByCount(draft: Draft, job: Job, end: number): CountSearch {
  const spare = spareOf(draft);
  const request = toNodeRequest(draft.machine, job, job.nodesNeeded, draft.tiers);
  const { instants } = spare;
  let tried = 0;
  let chosen = 0;
  let last: number = draft.now;
  for (let at = 0; at < instants.length; at += 1) {
    const startsAt = instants[at] as number;
    if (startsAt >= end || startsAt === Number.POSITIVE_INFINITY) break;
    if (startsAt <= last || !spare.couldStartAt(job, at)) continue;
    last = startsAt;
    if (tried === INSTANT_LIMIT || chosen === CHOICE_LIMIT) return { found: null, isExhausted: false };
    tried += 1;
    const supply = supplyAt(draft, job, startsAt);
    if (supply === null) continue;
    chosen += 1;
    const picks = choose(draft.machine, supply, request);
    if (picks === null) continue;
    return { found: planned(job, startsAt, pickLatest(draft, job, picks)), isExhausted: true };
  }
  return { found: null, isExhausted: true };
}

function searchBySweep(draft: Draft, job: Job, before: number): PlannedReservation | null {
  let found: PlannedReservation | null = null;
  const { nodesNeeded, occupancy } = job;
  const request = toNodeRequest(draft.machine, job, nodesNeeded, draft.tiers);
  sweepReleases(draft, job, (startsAt, supply) => {
    if (startsAt >= before) return true;
    const affordable = draft.budgets?.most(job, nodesNeeded, startsAt, startsAt + occupancy) ?? nodesNeeded;
    if (affordable < nodesNeeded) return false;
    const picks = choose(draft.machine, supply, request);
    if (picks === null) return false;
    supplyAt(draft, job, startsAt);
    found = planned(job, startsAt, pickLatest(draft, job, picks));
    return true;
  });
  return found;
}

const planned = (job: Job, startsAt: number, nodes: readonly number[]): PlannedReservation => ({
  job,
  startsAt: instant(startsAt),
  endsAt: startsAt + job.occupancy,
  nodes,
});

/** Returns the nodes on which the job could start at that instant, or `null`. */
export function nodesAt(draft: Draft, job: Job, startsAt: number): readonly number[] | null {
  const supply = supplyAt(draft, job, startsAt);
  if (supply === null || supply.total + (job.match.required?.length ?? 0) < job.nodesNeeded) return null;
  const picks = choose(draft.machine, supply, toNodeRequest(draft.machine, job, job.nodesNeeded));
  return picks === null ? null : pickLatest(draft, job, picks);
}

/** Returns the reservation of the job, looked up by its owner. */
export const reservationOf = (draft: Draft, { input: { id } }: Job): PlannedReservation | null =>
  draft.reservations.find(({ job }) => job.input.id === id) ?? null;

export function addReservation(draft: Draft, reservation: PlannedReservation): void {
  draft.reservations = [...draft.reservations, reservation];
  draft.spare = null;
  draft.reservedIntervals.add(reservation);
  draft.budgets?.reserve(reservation.job, reservation.startsAt, reservation.endsAt);
}

export function removeReservation(draft: Draft, reservation: PlannedReservation): void {
  draft.reservations = draft.reservations.filter((other) => other !== reservation);
  draft.spare = null;
  draft.reservedIntervals.remove(reservation);
  draft.budgets?.release(reservation.job);
}
