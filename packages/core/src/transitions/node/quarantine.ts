// Takes a black hole, or a node whose configuration stays different, out of service; a black hole is tried again later.
// At most a configured part of the cluster is quarantined at a time, so that the remedy costs less than the fault.

import type { Instant } from "../../base/ids.ts";
import { after, type NodeId } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse } from "../../base/outcome.ts";
import type { Node, NodeState } from "../../model/node/node.ts";
import { type QuarantineRule, quarantineReason } from "../../model/node/quarantine-rule.ts";
import { noticeKey } from "../../model/notice/notice.ts";
import { moveNode } from "../claims/move-node.ts";
import { clearNotice, raiseNotice } from "../notice/raise.ts";
import type { Step } from "../step.ts";
import { returnToService } from "./return-to-service.ts";
import { takeDown } from "./take-down.ts";

/** Default: the largest part of all nodes, in percent. */
export const MAX_QUARANTINED_PERCENT = 30;

/** Takes a node out of service because work keeps failing on it. */
export interface Quarantine {
  readonly node: NodeId;
  readonly reason: string;
  /** The time of the next probe; `null`: the node stays out of service until an administrator enables it. */
  readonly until: Instant | null;
  /** The largest part of all nodes that may be quarantined, in percent. Default: 30. */
  readonly maxPercent?: number;
}

export function quarantineNode(step: Step, command: Quarantine): Outcome {
  const { node: id, reason, until, maxPercent = MAX_QUARANTINED_PERCENT } = command;
  const node = step.state.node(id);
  if (node === undefined) return refuse("unknown_node", `there is no node ${quote(id)}`);
  const { kind } = node.state;
  // A node that was drained for drift leaves service for good when no operator corrects it.
  const idle = kind === "ready" || (kind === "drained" && node.drift !== undefined && until === null);
  const busy = node.claims.length > 0;
  if (!idle) return refuse("stale_plan", `node "${id}" is ${kind}`);
  const out = Array.from(step.state.nodes()).filter(isQuarantined).length;
  if ((out + 1) * 100 > maxPercent * step.state.nodeCount) {
    return refuse("illegal_transition", `${out} of ${step.state.nodeCount} nodes are already quarantined`);
  }

  // Running work continues; nothing new starts.
  if (busy) {
    moveNode(step, node, {
      kind: "draining",
      since: step.at,
      reason,
      ...(until === null ? {} : { quarantineUntil: until }),
    });
    if (until !== null) raiseQuarantineNotice(step, id, reason);
    return accepted(id);
  }
  takeDown(step, node, { cause: "quarantined", reason, ...(until === null ? {} : { until }) });
  raiseQuarantineNotice(step, id, reason);
  return accepted(id);
}

const raiseQuarantineNotice = (step: Step, id: NodeId, reason: string): boolean =>
  raiseNotice(step, {
    key: noticeKey("node_quarantined", id),
    kind: "node_quarantined",
    text: `node "${id}" was quarantined: ${reason}`,
    tenant: null,
    user: null,
    node: id,
  });

/** Quarantines in the log entry of the failure itself, so that nothing more is placed there; needs a rule. */
export function quarantineAfterFailure(step: Step, id: NodeId, rule: QuarantineRule | undefined): void {
  const node = rule === undefined ? undefined : step.state.node(id);
  if (rule === undefined || node?.state.kind !== "ready") return;
  const reason = quarantineReason(node, rule);
  if (reason === null) return;
  const until = after(step.at, rule.probation);
  quarantineNode(step, { node: id, reason, until, maxPercent: rule.maxPercent });
}

/** Ends quarantines whose failures proved to be the fault of the work. */
export function endUnjustQuarantines(step: Step, nodes: readonly Node[], rule: QuarantineRule | undefined): void {
  for (const node of nodes) {
    if (rule === undefined || node.state.kind !== "down" || node.state.until === undefined) continue;
    if (quarantineReason(node, rule) === null) endQuarantine(step, node, node.state);
  }
}

export function endQuarantine(step: Step, node: Node, state: Extract<NodeState, { readonly kind: "down" }>): void {
  returnToService(step, node, state);
  clearNotice(step, noticeKey("node_quarantined", node.id));
}

const isQuarantined = ({ state }: Node): boolean =>
  (state.kind === "down" && state.cause === "quarantined") || (state.kind === "draining" && "quarantineUntil" in state);
