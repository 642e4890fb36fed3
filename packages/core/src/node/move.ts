// The one way in which a node changes its state: the move must be in the table, the record is
// replaced, and watchers are told.

import { invariant } from "../invariant.ts";
import type { Event } from "../outcome.ts";
import type { Step } from "../step.ts";
import { type Node, type NodeState, type NodeStateKind, nodeMoves } from "./node.ts";

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

export const nodeChanged = (node: Node, from: NodeStateKind, reason: string): Event => ({
  kind: "node_changed",
  node: node.id,
  from,
  to: node.state.kind,
  reason,
  message: "reason" in node.state ? node.state.reason : "",
});

const reasonOf = (state: NodeState): string => ("cause" in state ? state.cause : "reason" in state ? state.reason : "");
