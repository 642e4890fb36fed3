// Decides which orders to send again: orders that a node has not answered for too long. Orders are idempotent, so a
// repetition costs one message; a lost order would cost the node. The wait is measured from when this leader first saw
// the order, on the monotonic clock: the claim may carry the wall clock of another server.

import { between, type Claim, type Duration, type Instant, isPlaced, type NodeId, type View } from "@lattice/core";

interface OverdueOrder {
  readonly node: NodeId;
  readonly claim: Claim;
}

interface OrdersInputs {
  /** Monotonic, as all instants here. */
  readonly now: Instant;
  /** As returned by the previous run. */
  readonly seen: FirstWaiting;
  readonly patience: Duration;
}

/** When each order that waits for an answer was first seen. */
export type FirstWaiting = ReadonlyMap<string, Instant>;

interface OrdersVerdict {
  readonly overdue: readonly OverdueOrder[];
  readonly seen: FirstWaiting;
}

export function decideOverdue(view: View, { now, seen, patience }: OrdersInputs): OrdersVerdict {
  const overdue: OverdueOrder[] = [];
  const stillWaiting = new Map<string, Instant>();
  for (const node of view.nodes()) {
    for (const claim of node.claims) {
      if (!claim.releasing && !isUnanswered(view, node.id, claim)) continue;
      const order = `${claim.releasing ? "stop" : "run"} ${node.id} ${claim.allocation}.${claim.attempt}`;
      const since = seen.get(order) ?? now;
      stillWaiting.set(order, since);
      if (between(since, now) >= patience) overdue.push({ node: node.id, claim });
    }
  }
  return { overdue, seen: stillWaiting };
}

function isUnanswered(view: View, node: NodeId, claim: Claim): boolean {
  const allocation = view.allocation(claim.allocation);
  if (allocation === undefined || !isPlaced(allocation.phase)) return false;
  const progress = allocation.phase.progress[allocation.phase.nodes.indexOf(node)];
  return progress?.state === "ordered";
}
