// Where a node goes when it comes back: to ready, or to drained with its reason when it was being
// drained before.

import { noticeKey } from "../notice/notice.ts";
import { clearNotice } from "../notice/raise.ts";
import type { Step } from "../step.ts";
import { moveNode } from "./move.ts";
import type { Node, NodeState } from "./node.ts";

/** Whatever was told of its being down is over. */
export function bringBack(step: Step, node: Node, state: Extract<NodeState, { readonly kind: "down" }>): Node {
  if (step.state.tables.notices.size > 0)
    clearNotice(step, { kind: "notice.clear", key: noticeKey("node_broken", node.id) });
  if (state.back === "ready") return moveNode(step, node, { kind: "ready", since: step.at });
  return moveNode(step, node, { kind: "drained", since: step.at, reason: "drained before it was down" });
}
