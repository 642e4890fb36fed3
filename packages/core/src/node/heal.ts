// Where a node goes when it comes back: to ready, or to drained with its reason when it was being
// drained before.

import type { Step } from "../step.ts";
import { moveNode } from "./move.ts";
import type { Node, NodeState } from "./node.ts";

export function bringBack(step: Step, node: Node, state: Extract<NodeState, { readonly kind: "down" }>): Node {
  if (state.back === "ready") return moveNode(step, node, { kind: "ready", since: step.at });
  return moveNode(step, node, { kind: "drained", since: step.at, reason: "drained before it was down" });
}
