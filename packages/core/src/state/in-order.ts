// Allocations in order of id. Records of groups' elements are made later than their ids, so they have an order of their
// own, which a walk over all allocations merges in.

import { compareAllocationIds } from "../base/id-order.ts";
import type { Allocation } from "../model/allocation/allocation.ts";

export function* inOrder(
  records: Iterable<Allocation>,
  elements: Iterable<Allocation>,
): Generator<Allocation, void, undefined> {
  const woven = elements[Symbol.iterator]();
  let next = woven.next();
  for (const record of records) {
    if (record.element !== undefined) continue;
    while (next.done !== true && compareAllocationIds(next.value.id, record.id) < 0) {
      yield next.value;
      next = woven.next();
    }
    yield record;
  }
  while (next.done !== true) {
    yield next.value;
    next = woven.next();
  }
}
