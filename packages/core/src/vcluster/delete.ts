// A vCluster that has no work and no home nodes is removed. The default stays: submissions that name none go there.

import type { DeleteVClusterCommand } from "../command.ts";
import type { Outcome } from "../outcome.ts";
import { unfinished } from "../state/unfinished.ts";
import { accepted, quote, refuse, type Step } from "../step.ts";

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
