// The allocations of each user, so that a query for one user does not scan a hundred thousand records. Elements of
// groups are included; readers skip them if needed.

import { compareAllocationIds } from "../base/id-order.ts";
import type { AllocationId, UserName } from "../base/ids.ts";
import { createOrdered, type Ordered } from "../base/ordered.ts";
import type { Allocation } from "../model/allocation/allocation.ts";

export interface ByUser {
  of(user: UserName): Ordered<AllocationId>;
  allocationReplaced(before: Allocation | undefined, after: Allocation | undefined): void;
}

const NONE = createOrdered<AllocationId>(compareAllocationIds);

export function createByUser(): ByUser {
  const byUser = new Map<UserName, Ordered<AllocationId>>();

  function add({ user, id }: Allocation): void {
    const known = byUser.get(user) ?? createOrdered(compareAllocationIds);
    known.add(id);
    byUser.set(user, known);
  }

  function remove({ user, id }: Allocation): void {
    const known = byUser.get(user);
    known?.delete(id);
    if (known?.size === 0) byUser.delete(user);
  }

  return {
    of: (user) => byUser.get(user) ?? NONE,
    allocationReplaced(before, after) {
      if (before?.user === after?.user) return;
      if (before !== undefined) remove(before);
      if (after !== undefined) add(after);
    },
  };
}
