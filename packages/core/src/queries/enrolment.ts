// Whether a node may use an enrolment: the same answer for the server that receives the request and for the log.

import type { Instant, NodeId } from "../base/ids.ts";
import type { View } from "../state/view.ts";

interface EnrolmentUse {
  readonly id: string;
  readonly node: NodeId;
  readonly now: Instant;
}

/** Returns why the node may not use the enrolment, or null. A registered node is refused: its name is taken. */
export function useRefusal(view: Pick<View, "enrolment" | "node">, { id, node, now }: EnrolmentUse): string | null {
  const known = view.enrolment(id);
  if (known === undefined) return `the enrolment ${id} was removed`;
  const { until, nodes, limit } = known;
  if (now >= until) return `the enrolment ${id} has expired`;
  if (view.node(node) !== undefined) return `the node ${node} is registered already, and an enrolment is for new nodes`;
  if (nodes.length >= limit && !nodes.includes(node))
    return `the enrolment ${id} is used up: its limit of nodes is ${limit}`;
  return null;
}
