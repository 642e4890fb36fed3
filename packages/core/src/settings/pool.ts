// The pool of nodes that sensitive work may hold at a time: what is held of it, and whom it concerns. It is one for the cluster,
// whoever the tenants are.

import type { VClusterId } from "../ids.ts";
import type { View } from "../state/view.ts";
import { policyOf } from "../vcluster/policy.ts";

/** The size of the pool and what is held of it; null: no limit concerns this vCluster. */
export function poolLeft(
  view: Pick<View, "vcluster" | "vclusters" | "claimedNodes" | "limits">,
  id: VClusterId,
): { readonly limit: number; readonly current: number } | null {
  const limit = view.limits.sensitivePoolSize;
  const vcluster = view.vcluster(id);
  if (limit === null || vcluster === undefined || !policyOf(vcluster).sensitive) return null;
  return { limit, current: sensitiveNodes(view) };
}

/** Nodes that sensitive work holds, those that are still being released included. */
export function sensitiveNodes(view: Pick<View, "vclusters" | "claimedNodes">): number {
  let held = 0;
  for (const vcluster of view.vclusters()) if (policyOf(vcluster).sensitive) held += view.claimedNodes(vcluster.id);
  return held;
}
