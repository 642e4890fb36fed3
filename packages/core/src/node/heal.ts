// Where a node goes when it comes back: to ready, or to drained with its reason when it was being
// drained before.

import { noticeKey } from "../notice/notice.ts";
import { clearNotice } from "../notice/raise.ts";
import type { Step } from "../step.ts";
import { moveNode } from "./move.ts";
import type { Node, NodeState } from "./node.ts";
import { clearSilence } from "./silence-notice.ts";

/** Whatever was told of its being down is over. */
export function bringBack(step: Step, node: Node, state: Extract<NodeState, { readonly kind: "down" }>): Node {
  const next: NodeState =
    state.back === "ready"
      ? { kind: "ready", since: step.at }
      : { kind: "drained", since: step.at, reason: "drained before it was down" };
  const moved = moveNode(step, node, next);
  if (step.state.tables.notices.size === 0) return moved;
  clearNotice(step, { kind: "notice.clear", key: noticeKey("node_broken", node.id) });
  clearSilence(step, node);
  return moved;
}
