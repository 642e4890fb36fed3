// Step 1: order the queue. By score, highest first; a `fifo` vCluster by submission alone. Ties go
// to the earlier submission, then to the lower id number, so the order is total and independent of
// the order of the input. The order is drawn from a heap: a cycle that starts three allocations
// out of a hundred thousand pays for three, not for a full sort.

import { compareAllocationIds } from "@lattice/core";
import type { CycleInput, PendingInput } from "./cycle-types.ts";
import { type ScoreBasis, totalMilli } from "./score/score.ts";

export interface Queue {
  /** The next in order; null when none is left. */
  next(): PendingInput | null;
}

export function orderQueue({ pending, fifo }: CycleInput, basis: ScoreBasis): Queue {
  const scores = new Float64Array(pending.length);
  const heap = new Uint32Array(pending.length);
  for (const [at, job] of pending.entries()) {
    scores[at] = fifo ? 0 : totalMilli(basis, job);
    heap[at] = at;
  }
  let size = heap.length;

  const goesFirst = (a: number, b: number): boolean => {
    const difference = (scores[b] ?? 0) - (scores[a] ?? 0);
    if (difference !== 0) return difference < 0;
    const one = pending[a];
    const other = pending[b];
    return one !== undefined && other !== undefined && compareSubmission(one, other) < 0;
  };
  const siftDown = (start: number): void => {
    const moving = heap[start] ?? 0;
    let at = start;
    for (let child = 2 * at + 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && goesFirst(heap[child + 1] ?? 0, heap[child] ?? 0)) child += 1;
      const smaller = heap[child] ?? 0;
      if (!goesFirst(smaller, moving)) break;
      heap[at] = smaller;
      at = child;
    }
    heap[at] = moving;
  };

  for (let at = (size >> 1) - 1; at >= 0; at -= 1) siftDown(at);
  return {
    next: () => {
      if (size === 0) return null;
      const first = pending[heap[0] ?? 0] ?? null;
      size -= 1;
      heap[0] = heap[size] ?? 0;
      siftDown(0);
      return first;
    },
  };
}

/** Negative when `a` was submitted first. Entries hold many submissions: equal times are common. */
export const compareSubmission = (a: PendingInput, b: PendingInput): number =>
  a.submittedAt - b.submittedAt || compareAllocationIds(a.id, b.id);
