// Idle nodes of other vClusters that this one may borrow now, and who of its queue may. A vCluster lends
// only while nothing of its own waits, and never the nodes it keeps.

import {
  type Allocation,
  borrowBar,
  isFree,
  lendingRoom,
  type Node,
  policyOf,
  type VCluster,
  type VClusterId,
  type View,
} from "@lattice/core";

export interface Lenders {
  /** Counts the node against what its home would lend; true when this vCluster may have it. */
  offers(node: Node): boolean;
  /** Those the allocation may borrow from, in order of id; null: none. */
  openTo(allocation: Allocation): readonly VClusterId[] | null;
}

export function lendersTo(view: View, vcluster: VCluster): Lenders | null {
  if (!policyOf(vcluster).borrows) return null;
  const room = new Map<VClusterId, number>();
  for (const { id } of view.vclusters()) {
    const left = id === vcluster.id || view.pendingCount(id) > 0 ? 0 : lendingRoom(view, id);
    if (left > 0) room.set(id, left);
  }
  if (room.size === 0) return null;
  const lenders = [...room.keys()].sort((a, b) => (a < b ? -1 : 1));
  return {
    offers(node) {
      const left = node.homeVCluster === null ? 0 : (room.get(node.homeVCluster) ?? 0);
      if (left === 0 || node.homeVCluster === null || !isFree(node)) return false;
      room.set(node.homeVCluster, left - 1);
      return true;
    },
    openTo({ spec }) {
      const open = lenders.filter((lender) => borrowBar(view, spec, lender) === null);
      return open.length === 0 ? null : open;
    },
  };
}
