// A node that eats the queue, or whose configuration stays different, is taken out of service, and a black hole is tried again later.
// Never so many that the cure is worse: beyond a share of the cluster nothing more is set aside.

import type { ProbeNodeCommand, SetAsideNodeCommand } from "../command.ts";
import { after, type NodeId } from "../ids.ts";
import { noticeKey } from "../notice/notice.ts";
import { clearNotice, notify } from "../notice/raise.ts";
import type { Outcome } from "../outcome.ts";
import { accepted, quote, refuse, type Step, unchanged } from "../step.ts";
import { FAULTS_TO_SET_ASIDE, type SetAsideRule, whyBlackHole } from "./black-hole.ts";
import { takeDown } from "./down.ts";
import { bringBack } from "./heal.ts";
import { moveNode } from "./move.ts";
import type { Node, NodeState } from "./node.ts";

/** Of all nodes, in percent, unless configured. */
export const MOST_SET_ASIDE = 30;

export function setAsideNode(step: Step, command: SetAsideNodeCommand): Outcome {
  const { node: id, reason, until, most = MOST_SET_ASIDE } = command;
  const node = step.state.node(id);
  if (node === undefined) return refuse("unknown_node", `there is no node ${quote(id)}`);
  const { kind } = node.state;
  // One that was drained because it drifted goes for good when nobody sets it right.
  const idle = kind === "ready" || (kind === "drained" && node.drift !== undefined && until === null);
  const busy = node.claims.length > 0;
  if (!idle) return refuse("stale_plan", `node "${id}" is ${kind}`);
  const out = Array.from(step.state.nodes()).filter(isSetAside).length;
  if ((out + 1) * 100 > most * step.state.nodeCount) {
    return refuse("illegal_transition", `${out} of ${step.state.nodeCount} nodes are set aside already`);
  }

  // What runs there is no worse off than it was; nothing new begins.
  if (busy) {
    moveNode(step, node, {
      kind: "draining",
      since: step.at,
      reason,
      ...(until === null ? {} : { asideUntil: until }),
    });
    if (until !== null) tellOf(step, id, reason);
    return accepted(id);
  }
  takeDown(step, node, { cause: "quarantined", reason, ...(until === null ? {} : { until }) });
  tellOf(step, id, reason);
  return accepted(id);
}

const tellOf = (step: Step, id: NodeId, reason: string): boolean =>
  notify(step, {
    key: noticeKey("node_set_aside", id),
    kind: "node_set_aside",
    text: `node "${id}" was set aside: ${reason}`,
    tenant: null,
    user: null,
    node: id,
  });

/** In the entry of the very failure that is one too many: nothing more is placed there. Absent: nobody has said what that is. */
export function setAsideAfter(step: Step, id: NodeId, rule: SetAsideRule | undefined): void {
  const node = rule === undefined ? undefined : step.state.node(id);
  if (rule === undefined || node?.state.kind !== "ready") return;
  const reason = whyBlackHole(node, rule);
  if (reason === null) return;
  const until = after(step.at, rule.probation);
  setAsideNode(step, { kind: "node.set_aside", node: id, reason, until, most: rule.mostPercent });
}

/** What was held against the nodes was the fault of the work: those that were set aside for it alone are back. */
export function absolve(step: Step, nodes: readonly Node[], rule: SetAsideRule | undefined): void {
  for (const node of nodes) {
    if (rule === undefined || node.state.kind !== "down" || node.state.until === undefined) continue;
    if (whyBlackHole(node, rule) === null) backInService(step, node, node.state);
  }
}

/** Back in service, one failure away from being set aside again. */
export function probeNode(step: Step, command: ProbeNodeCommand): Outcome {
  const { node: id, keep = FAULTS_TO_SET_ASIDE - 1 } = command;
  const node = step.state.node(id);
  if (node === undefined) return refuse("unknown_node", `there is no node ${quote(id)}`);
  if (node.state.kind !== "down" || node.state.until === undefined) return unchanged(id);
  if (step.at < node.state.until) return refuse("stale_report", `node "${id}" is set aside for longer`);
  const faults = keep <= 0 ? [] : (node.faults ?? []).slice(-keep);
  const { faults: _before, ...rest } = node;
  backInService(step, faults.length === 0 ? rest : { ...rest, faults }, node.state);
  return accepted(id);
}

function backInService(step: Step, node: Node, state: Extract<NodeState, { readonly kind: "down" }>): void {
  bringBack(step, node, state);
  clearNotice(step, { kind: "notice.clear", key: noticeKey("node_set_aside", node.id) });
}

const isSetAside = ({ state }: Node): boolean =>
  (state.kind === "down" && state.cause === "quarantined") || (state.kind === "draining" && "asideUntil" in state);
