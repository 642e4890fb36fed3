// The only place where a node changes its state: the move must be in the table, the record is replaced, and watchers
// get an event.

import { invariant } from "../../base/invariant.ts";
import type { NodeChanged } from "../../model/event/event.ts";
import { type Node, type NodeState, type NodeStateKind, nodeMoves } from "../../model/node/node.ts";
import type { Step } from "../step.ts";

export function moveNode(step: Step, node: Node, state: NodeState): Node {
  const from = node.state.kind;
  invariant(canMoveNode(from, state.kind), `node ${node.id} cannot move from ${from} to ${state.kind}`);
  const moved: Node = { ...node, state };
  step.state.putNode(moved);
  step.events.push(nodeChanged(moved, from, reasonOf(state)));
  return moved;
}

export const canMoveNode = (from: NodeStateKind, to: NodeStateKind): boolean =>
  (nodeMoves[from] as readonly NodeStateKind[]).includes(to);

export const nodeChanged = (node: Node, from: NodeStateKind, reason: string): NodeChanged => ({
  kind: "node_changed",
  node: node.id,
  from,
  to: node.state.kind,
  reason,
  message: "reason" in node.state ? node.state.reason : "",
});

const reasonOf = (state: NodeState): string => ("cause" in state ? state.cause : "reason" in state ? state.reason : "");
