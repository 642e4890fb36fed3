// Orders that deserve to be said again: a claim that has waited long for its node to answer. Orders
// are idempotent, so saying one twice costs a message; a lost one would cost the node. How long an order has waited is
// measured from when this leader first saw it wait, on the steady clock: the claim was stamped by another server's
// wall clock, perhaps, and waiting for that time would delay the repetition.

import { between, type Claim, type Duration, type Instant, isPlaced, type NodeId, type View } from "@lattice/core";

export interface OverdueOrder {
  readonly node: NodeId;
  readonly claim: Claim;
}

export interface OrdersInputs {
  /** On the steady clock, as all instants here. */
  readonly now: Instant;
  /** As returned by the turn before. */
  readonly seen: FirstWaiting;
  readonly patience: Duration;
}

/** When each order that waits for an answer was first seen. */
export type FirstWaiting = ReadonlyMap<string, Instant>;

export interface OrdersVerdict {
  readonly overdue: readonly OverdueOrder[];
  readonly seen: FirstWaiting;
}

export function decideOverdue(view: View, { now, seen, patience }: OrdersInputs): OrdersVerdict {
  const overdue: OverdueOrder[] = [];
  const still = new Map<string, Instant>();
  for (const node of view.nodes()) {
    for (const claim of node.claims) {
      if (!claim.releasing && !unanswered(view, node.id, claim)) continue;
      const order = `${claim.releasing ? "stop" : "run"} ${node.id} ${claim.allocation}.${claim.attempt}`;
      const since = seen.get(order) ?? now;
      still.set(order, since);
      if (between(since, now) >= patience) overdue.push({ node: node.id, claim });
    }
  }
  return { overdue, seen: still };
}

function unanswered(view: View, node: NodeId, claim: Claim): boolean {
  const allocation = view.allocation(claim.allocation);
  if (allocation === undefined || !isPlaced(allocation.phase)) return false;
  const progress = allocation.phase.progress[allocation.phase.nodes.indexOf(node)];
  return progress?.state === "ordered";
}
