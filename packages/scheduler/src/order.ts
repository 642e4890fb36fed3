// Step 1: order the queue. By score, highest first; a `fifo` vCluster by submission alone. Ties go
// to the earlier submission, then to the lower id number, so the order is total and independent of
// the order of the input. The order is drawn from a heap, and those that could not matter are let
// sleep: a cycle that starts three allocations out of a hundred thousand pays for three, not for a
// full sort, and scores those it draws from.

import { type AllocationId, compareAllocationIds } from "@lattice/core";
import type { CycleInput, PendingInput } from "./cycle-types.ts";
import { type Heap, heapOf } from "./heap.ts";
import { type Job, jobOf } from "./job.ts";
import { jobsFor } from "./kept-jobs.ts";
import type { ScoreBasis } from "./score/score.ts";
import { createScorer } from "./score/scorer.ts";

export interface Queue {
  /** The next in order that is awake; null when none is left. */
  next(): Job | null;
  /** The place in the input of the one drawn last; -1 before the first. */
  readonly last: number;
  /** Negative when `a` goes before `b`; both by their place in the input. */
  compare(a: number, b: number): number;
  /** By how many thousandths the first scores more; both by their place in the input. */
  lead(a: number, b: number): number;
  /** Of those not drawn yet all others sleep. */
  letOthersSleep(isAwake: (job: Job) => boolean): void;
  /** Those that sleep are drawn too, also those that come before the last one drawn: they have not had their turn. */
  wake(): void;
  /** The fewest nodes and the shortest time that one of those that sleep asks for; Infinity when none does. */
  readonly asleep: { readonly least: number; readonly occupies: number };
  /** Of all, drawn or not, those wanted, in order. */
  those(isWanted: (input: PendingInput) => boolean): Iterable<Job>;
}

export function orderQueue(input: CycleInput, basis: ScoreBasis): Queue {
  const { pending, fifo, signals, timed = (_what, run) => run() } = input;
  const scores = new Float64Array(pending.length).fill(fifo ? 0 : Number.NaN);
  // An efficiency is told anew every time, and a job says whether it is low.
  const keeps = input.ground !== undefined && signals?.efficiency === undefined ? input.ground.jobs : null;
  const jobs: (Job | undefined)[] =
    keeps === null ? new Array(pending.length) : jobsFor(keeps, basis.machine.matches, pending.length);
  const scoreOf = createScorer(basis);
  const jobAt = (at: number): Job => {
    const own = pending[at] as PendingInput;
    const known = jobs[at];
    // A trial may have put another in its place.
    if (known !== undefined && known.input === own) return known;
    const job = jobOf(basis.machine, own, signals);
    jobs[at] = job;
    return job;
  };
  const scoreAt = (at: number): number => {
    const known = scores[at] as number;
    // Not a number: not asked for yet.
    if (!Number.isNaN(known)) return known;
    const score = scoreOf(jobAt(at));
    scores[at] = score;
    return score;
  };
  const compare = (a: number, b: number): number =>
    scoreAt(b) - scoreAt(a) || compareSubmission(pending[a] as PendingInput, pending[b] as PendingInput);

  // Scores are asked for while a heap is made.
  const ordered = (places: Uint32Array): Heap => timed("cost_function", () => heapOf(places, compare));
  let awake: Heap | null = null;
  let asleep: number[] = [];
  let least = Number.POSITIVE_INFINITY;
  let occupies = Number.POSITIVE_INFINITY;
  let last = -1;
  return {
    get asleep() {
      return { least, occupies };
    },
    get last() {
      return last;
    },
    compare,
    lead: (a, b) => scoreAt(a) - scoreAt(b),
    next() {
      awake ??= ordered(placesIn(pending.length));
      const at = awake.take();
      if (at < 0) return null;
      last = at;
      return jobAt(at);
    },
    letOthersSleep(isAwake) {
      const left = awake?.left() ?? placesIn(pending.length);
      let wanted = 0;
      for (let i = 0; i < left.length; i += 1) {
        const at = left[i] as number;
        const job = jobAt(at);
        if (isAwake(job)) {
          left[wanted] = at;
          wanted += 1;
        } else {
          asleep.push(at);
          least = Math.min(least, job.least);
          occupies = Math.min(occupies, job.occupies);
        }
      }
      awake = ordered(left.subarray(0, wanted));
    },
    wake() {
      if (asleep.length === 0 || awake === null) return;
      const left = awake.left();
      const all = new Uint32Array(left.length + asleep.length);
      all.set(left);
      all.set(asleep, left.length);
      awake = ordered(all);
      asleep = [];
      least = Number.POSITIVE_INFINITY;
      occupies = Number.POSITIVE_INFINITY;
    },
    *those(isWanted) {
      const byScore = timed("cost_function", () => placesByScore(pending, isWanted, scoreAt));
      for (const score of Float64Array.from(byScore.keys()).sort((a, b) => b - a)) {
        for (const at of inOrder(byScore.get(score) ?? NONE, pending)) yield jobAt(at);
      }
    },
  };
}

const NONE: readonly number[] = [];

/** Many score alike, and who is drawn to the end is drawn whole: cheaper than a heap. */
function placesByScore(
  pending: readonly PendingInput[],
  isWanted: (input: PendingInput) => boolean,
  scoreAt: (at: number) => number,
): Map<number, number[]> {
  const byScore = new Map<number, number[]>();
  for (let at = 0; at < pending.length; at += 1) {
    if (!isWanted(pending[at] as PendingInput)) continue;
    const score = scoreAt(at);
    const alike = byScore.get(score);
    if (alike === undefined) byScore.set(score, [at]);
    else alike.push(at);
  }
  return byScore;
}

/** By submission; queues are mostly given in that order. */
function inOrder(places: readonly number[], pending: readonly PendingInput[]): readonly number[] {
  const compare = (a: number, b: number): number =>
    compareSubmission(pending[a] as PendingInput, pending[b] as PendingInput);
  const isSorted = places.every((at, i) => i === 0 || compare(places[i - 1] as number, at) < 0);
  return isSorted ? places : [...places].sort(compare);
}

function placesIn(count: number): Uint32Array {
  const places = new Uint32Array(count);
  for (let at = 0; at < count; at += 1) places[at] = at;
  return places;
}

/** Negative when `a` was submitted first. Entries hold many submissions: equal times are common. */
export const compareSubmission = (a: PendingInput, b: PendingInput): number =>
  a.submittedAt - b.submittedAt || compareAllocationIds(a.id, b.id);

/** Where an id is, or belongs, in a list in order of id; mostly at the end. */
export function placeOf(pending: readonly PendingInput[], id: AllocationId): number {
  const newest = pending.at(-1);
  if (newest === undefined || compareAllocationIds(newest.id, id) < 0) return pending.length;
  let low = 0;
  let high = pending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareAllocationIds((pending[middle] as PendingInput).id, id) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
