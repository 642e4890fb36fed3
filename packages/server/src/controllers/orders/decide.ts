// Orders that deserve to be said again: a claim that has waited long for its node to answer. Orders
// are idempotent, so saying one twice costs a message; a lost one would cost the node.

import { after, type Claim, type Duration, type Instant, isPlaced, type NodeId, type View } from "@lattice/core";

export interface OverdueOrder {
  readonly node: NodeId;
  readonly claim: Claim;
}

export function decideOverdue(view: View, now: Instant, patience: Duration): OverdueOrder[] {
  const overdue: OverdueOrder[] = [];
  for (const node of view.nodes()) {
    for (const claim of node.claims) {
      if (now < after(claim.since, patience)) continue;
      if (claim.releasing || unanswered(view, node.id, claim)) overdue.push({ node: node.id, claim });
    }
  }
  return overdue;
}

function unanswered(view: View, node: NodeId, claim: Claim): boolean {
  const allocation = view.allocation(claim.allocation);
  if (allocation === undefined || !isPlaced(allocation.phase)) return false;
  const progress = allocation.phase.progress[allocation.phase.nodes.indexOf(node)];
  return progress?.state === "ordered";
}
