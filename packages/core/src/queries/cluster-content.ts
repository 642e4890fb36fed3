// Whether a cluster has content that a restore would destroy. What the cluster created itself at its start (the tenant
// `default` and the first vClusters, in one entry) does not count. A registered node does: its agent has already
// received orders to stop unknown attempts.

import type { State } from "../state/state.ts";

/** Returns the first object that a restore would destroy, in words, or `null`. */
export function clusterContent(state: State): string | null {
  if (state.counters.nextAllocation > 1) return "allocations have been submitted to it";
  if (state.nodeCount > 0) return `${state.nodeCount} nodes have registered with it`;
  const [setting] = state.settings();
  if (setting !== undefined) return `its setting ${setting.key} was changed`;
  const tenants = [...state.tenants()];
  const made = tenants.find((tenant) => tenant.id !== "default");
  if (made !== undefined) return `it has the tenant "${made.id}"`;
  const [grant] = state.grants();
  if (grant !== undefined) return `${grant.user} has a role in it`;
  const vclusters = [...state.vclusters()];
  const began = tenants[0]?.createdAt ?? vclusters[0]?.createdAt;
  const later = vclusters.find((vcluster) => vcluster.tenant !== null || vcluster.createdAt !== began);
  return later === undefined ? null : `it has the vCluster "${later.id}"`;
}
