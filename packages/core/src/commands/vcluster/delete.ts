// vcluster.delete: removes a vCluster without work and home nodes. The default cannot be removed: submissions without a
// vCluster go there.

import type { VClusterId } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse } from "../../base/outcome.ts";
import type { Origin } from "../../model/origin.ts";
import { unfinished } from "../../queries/unfinished.ts";
import type { Step } from "../../transitions/step.ts";

export interface DeleteVClusterCommand {
  readonly kind: "vcluster.delete";
  readonly origin: Origin;
  readonly vcluster: VClusterId;
}

export function deleteVCluster(step: Step, { vcluster: id, origin }: DeleteVClusterCommand): Outcome {
  const { state } = step;
  const known = state.vcluster(id);
  if (known === undefined) return refuse("unknown_vcluster", `there is no vCluster ${quote(id)}`);
  if (known.isDefault) return refuse("illegal_transition", `vCluster "${id}" is the default`);
  const { home } = state.homeNodes(id);
  if (home > 0) return refuse("illegal_transition", `vCluster "${id}" is the home of ${home} nodes`, { count: home });
  const count = unfinished(state, ({ spec }) => spec.vcluster === id);
  if (count > 0) {
    return refuse("illegal_transition", `vCluster "${id}" has ${count} allocations that have not ended`, { count });
  }
  const leaving = Array.from(state.nodes()).filter((node) => node.claims.some((claim) => claim.vcluster === id)).length;
  if (leaving > 0) return refuse("illegal_transition", `work of vCluster "${id}" is still leaving ${leaving} nodes`);

  state.tables.vclusters.delete(id);
  step.events.push({ kind: "vcluster_changed", vcluster: id, from: "", to: "deleted", user: origin.user });
  return accepted(id);
}
