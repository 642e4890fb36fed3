// Allocations in order of id. Records of groups' elements come later than their ids, so they are kept in an order of their own
// and woven in where somebody walks over all.

import type { Allocation } from "../allocation/allocation.ts";
import { compareAllocationIds } from "../allocation/order.ts";

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
