// Orders the queue: by score, highest first; a FIFO vCluster by submission. Ties go to the earlier submission, then to
// the lower id, so the order is total and independent of the order of the input. Jobs come from a heap, and jobs that
// cannot matter are skipped: a cycle that starts three allocations out of a hundred thousand pays for three, not for a
// full sort.

import { type Heap, heapOf } from "../base/heap.ts";
import { type Job, toJob } from "../fit/job.ts";
import type { CycleInput, PendingInput } from "../input/cycle-input.ts";
import { compareSubmission } from "../input/pending-order.ts";
import type { ScoreBasis } from "../score/score.ts";
import { createScorer } from "../score/scorer.ts";
import { jobsFor } from "./job-cache.ts";

export interface Queue {
  /** Returns the next job that is not skipped, or `null`. */
  next(): Job | null;
  /** The index in the input of the job drawn last; -1 before the first. */
  readonly lastDrawn: number;
  /** Negative when `a` is ahead of `b`; both are indexes in the input. */
  compare(a: number, b: number): number;
  /** Skips the remaining jobs that fail `keep` until `resume()`. */
  skipUnless(keep: (job: Job) => boolean): void;
  /** Draws skipped jobs again, also the ones ahead of the last job drawn: they have not had their turn. */
  resume(): void;
  /** The fewest nodes and the shortest occupancy of the skipped jobs; Infinity when none is skipped. */
  readonly skipped: { readonly nodesNeeded: number; readonly occupancy: number };
  /** Returns all selected jobs in queue order, drawn or not. */
  select(isSelected: (input: PendingInput) => boolean): Iterable<Job>;
}

export function orderQueue(input: CycleInput, basis: ScoreBasis): Queue {
  const { pending, isFifo, signals, timed = (_what, run) => run() } = input;
  const scores = new Float64Array(pending.length).fill(isFifo ? 0 : Number.NaN);
  // A job depends on the efficiency signal, which changes from cycle to cycle.
  const jobCache = input.prepared !== undefined && signals?.efficiency === undefined ? input.prepared.jobCache : null;
  const jobs: (Job | undefined)[] =
    jobCache === null ? new Array(pending.length) : jobsFor(jobCache, basis.machine.matches, pending.length);
  const scoreOf = createScorer(basis);
  const jobAt = (at: number): Job => {
    const own = pending[at] as PendingInput;
    const known = jobs[at];
    // A trial may have replaced the request.
    if (known !== undefined && known.input === own) return known;
    const job = toJob(basis.machine, own, signals);
    jobs[at] = job;
    return job;
  };
  const scoreAt = (at: number): number => {
    const known = scores[at] as number;
    // NaN: not computed yet.
    if (!Number.isNaN(known)) return known;
    const score = scoreOf(jobAt(at));
    scores[at] = score;
    return score;
  };
  const compare = (a: number, b: number): number =>
    scoreAt(b) - scoreAt(a) || compareSubmission(pending[a] as PendingInput, pending[b] as PendingInput);

  // Building a heap computes scores.
  const ordered = (indexes: Uint32Array): Heap => timed("cost_function", () => heapOf(indexes, compare));
  let heap: Heap | null = null;
  let skippedJobs: number[] = [];
  let nodesNeeded = Number.POSITIVE_INFINITY;
  let occupancy = Number.POSITIVE_INFINITY;
  let last = -1;
  return {
    get skipped() {
      return { nodesNeeded, occupancy };
    },
    get lastDrawn() {
      return last;
    },
    compare,
    next() {
      heap ??= ordered(allIndexes(pending.length));
      const at = heap.pop();
      if (at < 0) return null;
      last = at;
      return jobAt(at);
    },
    skipUnless(keep) {
      const left = heap?.remaining() ?? allIndexes(pending.length);
      let keptCount = 0;
      for (let i = 0; i < left.length; i += 1) {
        const at = left[i] as number;
        const job = jobAt(at);
        if (keep(job)) {
          left[keptCount] = at;
          keptCount += 1;
        } else {
          skippedJobs.push(at);
          nodesNeeded = Math.min(nodesNeeded, job.nodesNeeded);
          occupancy = Math.min(occupancy, job.occupancy);
        }
      }
      heap = ordered(left.subarray(0, keptCount));
    },
    resume() {
      if (skippedJobs.length === 0 || heap === null) return;
      const left = heap.remaining();
      const all = new Uint32Array(left.length + skippedJobs.length);
      all.set(left);
      all.set(skippedJobs, left.length);
      heap = ordered(all);
      skippedJobs = [];
      nodesNeeded = Number.POSITIVE_INFINITY;
      occupancy = Number.POSITIVE_INFINITY;
    },
    *select(isSelected) {
      const byScore = timed("cost_function", () => indexesByScore(pending, isSelected, scoreAt));
      for (const score of Float64Array.from(byScore.keys()).sort((a, b) => b - a)) {
        for (const at of bySubmission(byScore.get(score) ?? NONE, pending)) yield jobAt(at);
      }
    },
  };
}

const NONE: readonly number[] = [];

/** Many jobs score equal, and all of them are read: cheaper than a heap. */
function indexesByScore(
  pending: readonly PendingInput[],
  isSelected: (input: PendingInput) => boolean,
  scoreAt: (at: number) => number,
): Map<number, number[]> {
  const byScore = new Map<number, number[]>();
  for (let at = 0; at < pending.length; at += 1) {
    if (!isSelected(pending[at] as PendingInput)) continue;
    const score = scoreAt(at);
    const equal = byScore.get(score);
    if (equal === undefined) byScore.set(score, [at]);
    else equal.push(at);
  }
  return byScore;
}

/** By submission; queues mostly come in that order. */
function bySubmission(indexes: readonly number[], pending: readonly PendingInput[]): readonly number[] {
  const compare = (a: number, b: number): number =>
    compareSubmission(pending[a] as PendingInput, pending[b] as PendingInput);
  const isSorted = indexes.every((at, i) => i === 0 || compare(indexes[i - 1] as number, at) < 0);
  return isSorted ? indexes : [...indexes].sort(compare);
}

function allIndexes(count: number): Uint32Array {
  const indexes = new Uint32Array(count);
  for (let at = 0; at < count; at += 1) indexes[at] = at;
  return indexes;
}
