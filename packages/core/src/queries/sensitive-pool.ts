// The pool of nodes that sensitive work may hold at a time: its use, and the work that it limits. The cluster has one
// pool for all tenants.

import type { VClusterId } from "../base/ids.ts";
import { policyOf } from "../model/vcluster/policy.ts";
import type { View } from "../state/view.ts";

/** Returns the size of the pool and its use; `null` when no limit applies to this vCluster. */
export function poolLeft(
  view: Pick<View, "vcluster" | "vclusters" | "claimedNodes" | "limits">,
  id: VClusterId,
): { readonly limit: number; readonly current: number } | null {
  const limit = view.limits.sensitivePoolSize;
  const vcluster = view.vcluster(id);
  if (limit === null || vcluster === undefined || !policyOf(vcluster).sensitive) return null;
  return { limit, current: sensitiveNodes(view) };
}

/** Nodes with claims of sensitive work, including claims that are being released. */
export function sensitiveNodes(view: Pick<View, "vclusters" | "claimedNodes">): number {
  let held = 0;
  for (const vcluster of view.vclusters()) if (policyOf(vcluster).sensitive) held += view.claimedNodes(vcluster.id);
  return held;
}
