// Step 1: order the queue. By score, highest first; a `fifo` vCluster by submission alone. Ties go
// to the earlier submission, then to the lower id number, so the order is total and independent of
// the order of the input. The order is drawn from a heap: a cycle that starts three allocations
// out of a hundred thousand pays for three, not for a full sort.

import { compareAllocationIds } from "@lattice/core";
import type { CycleInput, PendingInput } from "./cycle-types.ts";
import { type Job, jobOf } from "./job.ts";
import { type ScoreBasis, totalMilli } from "./score/score.ts";

export interface Queue {
  /** The next in order; null when none is left. */
  next(): Job | null;
  /** Negative when `a` goes before `b`; both by their place in the input. */
  compare(a: number, b: number): number;
  /** By how many thousandths the first scores more; both by their place in the input. */
  lead(a: number, b: number): number;
}

export function orderQueue(input: CycleInput, basis: ScoreBasis): Queue {
  const { pending, fifo, signals } = input;
  const scores = new Float64Array(pending.length);
  const heap = new Uint32Array(pending.length);
  const jobs: (Job | undefined)[] = new Array(pending.length);
  const jobAt = (at: number): Job => (jobs[at] ??= jobOf(basis.machine, pending[at] as PendingInput, signals));
  for (let at = 0; at < pending.length; at += 1) {
    scores[at] = fifo ? 0 : totalMilli(basis, jobAt(at));
    heap[at] = at;
  }
  let size = heap.length;

  const compare = (a: number, b: number): number =>
    (scores[b] as number) - (scores[a] as number) ||
    compareSubmission(pending[a] as PendingInput, pending[b] as PendingInput);
  const siftDown = (start: number): void => {
    const moving = heap[start] as number;
    let at = start;
    for (let child = 2 * at + 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && compare(heap[child + 1] as number, heap[child] as number) < 0) child += 1;
      const smaller = heap[child] as number;
      if (compare(smaller, moving) >= 0) break;
      heap[at] = smaller;
      at = child;
    }
    heap[at] = moving;
  };

  for (let at = (size >> 1) - 1; at >= 0; at -= 1) siftDown(at);
  return {
    compare,
    lead: (a, b) => (scores[a] as number) - (scores[b] as number),
    next: () => {
      if (size === 0) return null;
      const first = heap[0] as number;
      size -= 1;
      heap[0] = heap[size] as number;
      siftDown(0);
      return jobAt(first);
    },
  };
}

/** Negative when `a` was submitted first. Entries hold many submissions: equal times are common. */
export const compareSubmission = (a: PendingInput, b: PendingInput): number =>
  a.submittedAt - b.submittedAt || compareAllocationIds(a.id, b.id);
