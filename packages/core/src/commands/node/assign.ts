// node.assign: an administrator sets the home vCluster of a node, which from then on overrides the agent. A node that runs
// work of other vClusters must be drained first, since the new home has not agreed to lend it.

import type { NodeId, VClusterId } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse, unchanged } from "../../base/outcome.ts";
import type { Origin } from "../../model/origin.ts";
import { nodeChanged } from "../../transitions/claims/move-node.ts";
import type { Step } from "../../transitions/step.ts";

/** Assigns the home vCluster, which overrides the agent's own; `null` when the node serves all vClusters. */
export interface AssignNodeCommand {
  readonly kind: "node.assign";
  readonly origin: Origin;
  readonly node: NodeId;
  readonly vcluster: VClusterId | null;
}

export function assignNode(step: Step, { node: id, vcluster }: AssignNodeCommand): Outcome {
  const { state } = step;
  const node = state.node(id);
  if (node === undefined) return refuse("unknown_node", `there is no node ${quote(id)}`);
  if (vcluster !== null && state.vcluster(vcluster) === undefined) {
    return refuse("unknown_vcluster", `there is no vCluster ${quote(vcluster)}`);
  }
  if (node.homeAssigned === true && node.homeVCluster === vcluster) return unchanged(id);
  const foreign = vcluster === null ? undefined : node.claims.find((claim) => claim.vcluster !== vcluster);
  if (foreign !== undefined) {
    const work = `allocation ${foreign.allocation} of vCluster "${foreign.vcluster}" runs on it`;
    return refuse("illegal_transition", `node "${id}" cannot be given to "${vcluster}" while ${work}`);
  }

  const assigned = { ...node, homeVCluster: vcluster, homeAssigned: true as const };
  state.putNode(assigned);
  step.events.push(nodeChanged(assigned, assigned.state.kind, "assigned"));
  return accepted(id);
}
