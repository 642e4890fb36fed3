// Returns a node to service: to ready, or to drained with its reason when it was draining before.

import type { Node, NodeState } from "../../model/node/node.ts";
import { noticeKey } from "../../model/notice/notice.ts";
import { moveNode } from "../claims/move-node.ts";
import { clearNotice } from "../notice/raise.ts";
import type { Step } from "../step.ts";
import { clearSilenceNotice } from "./silence-notice.ts";

/** Clears the notices about the node being down. */
export function returnToService(step: Step, node: Node, state: Extract<NodeState, { readonly kind: "down" }>): Node {
  const next: NodeState =
    state.back === "ready"
      ? { kind: "ready", since: step.at }
      : { kind: "drained", since: step.at, reason: "drained before it was down" };
  const moved = moveNode(step, node, next);
  if (step.state.tables.notices.size === 0) return moved;
  clearNotice(step, noticeKey("node_broken", node.id));
  clearSilenceNotice(step, node);
  return moved;
}
