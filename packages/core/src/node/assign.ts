// Somebody says at which vCluster a node is at home; from then on that counts, and not what its agent says. What others
// run there would be lent work that nobody has agreed to lend, so that such a node must be emptied first.

import type { AssignNodeCommand } from "../command.ts";
import type { Outcome } from "../outcome.ts";
import { accepted, quote, refuse, type Step, unchanged } from "../step.ts";
import { nodeChanged } from "./move.ts";

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
    const work = `allocation ${foreign.allocation} of vCluster "${foreign.vcluster}" is there`;
    return refuse("illegal_transition", `node "${id}" cannot be given to "${vcluster}" while ${work}`);
  }

  const assigned = { ...node, homeVCluster: vcluster, homeAssigned: true as const };
  state.putNode(assigned);
  step.events.push(nodeChanged(assigned, assigned.state.kind, "assigned"));
  return accepted(id);
}
