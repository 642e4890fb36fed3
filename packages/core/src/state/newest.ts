// The allocations, newest first, without elements of groups. Ids are increasing, so an append-only list is enough. A
// removed record leaves a hole; the list is compacted when half of it is holes.

import { compareAllocationIds } from "../base/id-order.ts";
import type { AllocationId } from "../base/ids.ts";

export interface Newest<T> {
  added(id: AllocationId): void;
  /** Yields the allocations below `before`, or all. A change invalidates the iterator. */
  walk(before: AllocationId | null): Iterable<T>;
}

/** Shorter lists are not compacted. */
const MIN_CLOSED_UP = 1_024;

export function createNewest<T>(find: (id: AllocationId) => T | undefined, count: () => number): Newest<T> {
  let ids: AllocationId[] = [];

  function* walk(before: AllocationId | null): Generator<T, void, undefined> {
    for (let at = before === null ? ids.length - 1 : placeOf(ids, before) - 1; at >= 0; at -= 1) {
      const id = ids[at];
      const record = id === undefined ? undefined : find(id);
      if (record !== undefined) yield record;
    }
  }

  return {
    added(id) {
      if (ids.length > MIN_CLOSED_UP && ids.length > 2 * count()) ids = ids.filter((one) => find(one) !== undefined);
      ids.push(id);
    },
    walk,
  };
}

/** Returns the position of the first id that is not below `id`. */
function placeOf(ids: readonly AllocationId[], id: AllocationId): number {
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const known = ids[middle];
    if (known !== undefined && compareAllocationIds(known, id) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
