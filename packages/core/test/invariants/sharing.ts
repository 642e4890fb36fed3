// The invariants of preemption and lending: the scheduler's counts are right, nodes are kept only for allocations that
// wait, and every lent node is lent on its owner's terms.

import type { VClusterId } from "../../src/base/ids.ts";
import { isQueued } from "../../src/model/allocation/is-queued.ts";
import { isPlaced } from "../../src/model/allocation/phase.ts";
import { policyOf } from "../../src/model/vcluster/policy.ts";
import type { View } from "../../src/state/view.ts";

export function brokenSharing(view: View): string[] {
  const all = Array.from(view.allocations());
  const broken: string[] = [];
  const lowest = Math.min(...all.filter(({ phase }) => isPlaced(phase)).map(classOf));
  if (view.lowestPlacedClass !== lowest) broken.push(`the lowest class placed is ${lowest}`);
  const waiting = all.filter(({ phase }) => phase.kind === "pending" && phase.preemptedNodes !== undefined);
  const listed = Array.from(view.awaiting());
  if (listed.length !== waiting.length || !listed.every((record, i) => record === waiting[i])) {
    broken.push("the allocations that wait for freed nodes are not as listed");
  }
  for (const { id } of view.vclusters()) {
    const queued = all.filter(isQueued);
    const pending = queued.filter(({ spec }) => spec.vcluster === id).map(classOf);
    if (view.highestPendingClass(id) !== Math.max(-1, ...pending)) broken.push(`the classes waiting in ${id} differ`);
    broken.push(...brokenHomes(view, id));
  }
  return broken;
}

const classOf = ({ spec }: { readonly spec: { readonly lifecycle: { readonly preemptionClass: number } } }): number =>
  spec.lifecycle.preemptionClass;

function brokenHomes(view: View, id: VClusterId): string[] {
  const broken: string[] = [];
  const own = Array.from(view.nodes()).filter((node) => node.homeVCluster === id);
  const lent = own.filter((node) => node.claims.some((claim) => claim.vcluster !== id));
  const counted = view.homeNodes(id);
  if (counted.home !== own.length || counted.lent !== lent.length) broken.push(`the home nodes of ${id} differ`);
  const vcluster = view.vcluster(id);
  if (lent.length > 0 && vcluster !== undefined && policyOf(vcluster).sensitive) {
    broken.push(`${lent[0]?.id} is lent by the sensitive vCluster ${id}`);
  }
  return broken;
}
