// Idle nodes of other vClusters that this one may borrow now, and which of its allocations may. A vCluster lends only
// while nothing of its own waits, and never the nodes it retains.

import {
  type Allocation,
  borrowRefusal,
  isFree,
  lendableNodes,
  type Node,
  policyOf,
  type VCluster,
  type VClusterId,
  type View,
} from "@lattice/core";

export interface Lenders {
  /** Counts the node against what its home would lend; true when this vCluster may use it. */
  lends(node: Node): boolean;
  /** Returns the vClusters that the allocation may borrow from, sorted by id; `null` when there is none. */
  lendersFor(allocation: Allocation): readonly VClusterId[] | null;
}

export function lendersTo(view: View, vcluster: VCluster): Lenders | null {
  if (!policyOf(vcluster).borrows) return null;
  const lendable = new Map<VClusterId, number>();
  for (const { id } of view.vclusters()) {
    const left = id === vcluster.id || view.pendingCount(id) > 0 ? 0 : lendableNodes(view, id);
    if (left > 0) lendable.set(id, left);
  }
  if (lendable.size === 0) return null;
  const lenders = [...lendable.keys()].sort((a, b) => (a < b ? -1 : 1));
  return {
    lends(node) {
      const left = node.homeVCluster === null ? 0 : (lendable.get(node.homeVCluster) ?? 0);
      if (left === 0 || node.homeVCluster === null || !isFree(node)) return false;
      lendable.set(node.homeVCluster, left - 1);
      return true;
    },
    lendersFor({ spec }) {
      const open = lenders.filter((lender) => borrowRefusal(view, spec, lender) === null);
      return open.length === 0 ? null : open;
    },
  };
}
