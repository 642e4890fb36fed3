// Counts for preemption and lending: which classes wait and run, which preemptors wait for freed nodes, and how many
// nodes of a vCluster are lent. Derived from the records, neither hashed nor stored.

import { compareAllocationIds } from "../base/id-order.ts";
import type { AllocationId, VClusterId } from "../base/ids.ts";
import { createOrdered, type Ordered } from "../base/ordered.ts";
import type { Allocation } from "../model/allocation/allocation.ts";
import { isQueued } from "../model/allocation/is-queued.ts";
import { isPlaced } from "../model/allocation/phase.ts";
import type { Node } from "../model/node/node.ts";
import { MAX_PREEMPTION_CLASS } from "../model/spec/limits.ts";

export interface SharingIndex {
  readonly awaiting: Ordered<AllocationId>;
  /** Infinite when nothing is placed. */
  readonly lowestPlacedClass: number;
  /** -1 when no allocation waits. */
  highestPendingClass(vcluster: VClusterId): number;
  homeNodes(vcluster: VClusterId): { readonly home: number; readonly lent: number };
  allocationReplaced(before: Allocation | undefined, after: Allocation | undefined): void;
  nodeReplaced(before: Node | undefined, after: Node): void;
  /** Counts a node of this vCluster as lent (1) or returned (-1). */
  lentChanged(home: VClusterId, change: 1 | -1): void;
}

const CLASSES = MAX_PREEMPTION_CLASS + 1;

export function createSharingIndex(): SharingIndex {
  const pending = new Map<VClusterId, Int32Array>();
  const placed = new Int32Array(CLASSES);
  const awaiting = createOrdered(compareAllocationIds);
  const homes = new Map<VClusterId, { home: number; lent: number }>();

  function count(record: Allocation, by: 1 | -1): void {
    const { phase, spec } = record;
    const of = spec.lifecycle.preemptionClass;
    if (isPlaced(phase)) placed[of] = (placed[of] as number) + by;
    if (!isQueued(record)) return;
    const counts = pending.get(spec.vcluster) ?? new Int32Array(CLASSES);
    counts[of] = (counts[of] as number) + by;
    pending.set(spec.vcluster, counts);
  }

  function countHome({ homeVCluster, claims }: Node, by: 1 | -1): void {
    if (homeVCluster === null) return;
    const known = homes.get(homeVCluster) ?? { home: 0, lent: 0 };
    known.home += by;
    if (claims.some((claim) => claim.vcluster !== homeVCluster)) known.lent += by;
    homes.set(homeVCluster, known);
  }

  return {
    awaiting,
    get lowestPlacedClass() {
      const lowest = placed.findIndex((n) => n > 0);
      return lowest < 0 ? Number.POSITIVE_INFINITY : lowest;
    },
    highestPendingClass: (vcluster) => pending.get(vcluster)?.findLastIndex((n) => n > 0) ?? -1,
    homeNodes: (vcluster) => ({ home: 0, lent: 0, ...homes.get(vcluster) }),
    allocationReplaced(before, after) {
      if (before !== undefined) count(before, -1);
      if (after !== undefined) count(after, 1);
      if (before !== undefined && isAwaiting(before)) awaiting.delete(before.id);
      if (after !== undefined && isAwaiting(after)) awaiting.add(after.id);
    },
    nodeReplaced(before, after) {
      if (before !== undefined) countHome(before, -1);
      countHome(after, 1);
    },
    lentChanged(home, change) {
      const known = homes.get(home);
      if (known !== undefined) known.lent += change;
    },
  };
}

const isAwaiting = ({ phase }: Allocation): boolean => phase.kind === "pending" && phase.preemptedNodes !== undefined;
