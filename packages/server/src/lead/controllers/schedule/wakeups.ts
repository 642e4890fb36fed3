// Which vClusters need a cycle after an event. Pure. A submission wakes its own queue; anything that frees a node wakes
// every queue, since any of them may wait for it.

import type { Event, VClusterId } from "@lattice/core";

type Wakeup = { readonly kind: "one"; readonly vcluster: VClusterId } | { readonly kind: "all" } | null;

export function wakeupOf(event: Event): Wakeup {
  if (event.kind === "allocation_changed" && event.to === "pending" && event.vcluster !== undefined) {
    return { kind: "one", vcluster: event.vcluster };
  }
  // The end or requeue of an allocation may also free quota of its tenant.
  if (event.kind === "allocation_changed" && event.to !== "staging" && event.to !== "running") return { kind: "all" };
  if (event.kind === "claim_released") return { kind: "all" };
  if (event.kind === "node_changed" && event.to === "ready") return { kind: "all" };
  if (event.kind === "tenant_changed" || event.kind === "vcluster_changed") return { kind: "all" };
  if (event.kind === "placement_refused" && event.vcluster !== undefined)
    return { kind: "one", vcluster: event.vcluster };
  return null;
}
