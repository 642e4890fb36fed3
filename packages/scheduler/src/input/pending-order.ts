// The two fixed orders of pending allocations: by submission, which breaks ties of the queue, and by id.

import { type AllocationId, compareAllocationIds } from "@lattice/core";
import type { PendingInput } from "./cycle-input.ts";

/** Negative when `a` was submitted first. One entry holds many submissions, so equal times are common. */
export const compareSubmission = (a: PendingInput, b: PendingInput): number =>
  a.submittedAt - b.submittedAt || compareAllocationIds(a.id, b.id);

/** Returns the index of an id, or where it belongs, in a list sorted by id; mostly the end. */
export function indexById(pending: readonly PendingInput[], id: AllocationId): number {
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
