// node.health: the leader's verdict on a node, from heartbeats that are not in the log. Only a silent node recovers by
// a heartbeat; a node taken down by an administrator or by broken hardware stays down. The audit log records when a
// node for sensitive work became silent and when it returned.

import type { NodeId } from "../../base/ids.ts";
import { SYSTEM_USER } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse, unchanged } from "../../base/outcome.ts";
import type { Node } from "../../model/node/node.ts";
import { MAX_NOTICE_LENGTH, noticeKey } from "../../model/notice/notice.ts";
import { isSensitiveHome } from "../../queries/sensitive.ts";
import { appendAudit } from "../../transitions/audit/append.ts";
import { moveNode, nodeChanged } from "../../transitions/claims/move-node.ts";
import { returnToService } from "../../transitions/node/return-to-service.ts";
import { raiseSilenceNotice } from "../../transitions/node/silence-notice.ts";
import { releaseAll, takeDown } from "../../transitions/node/take-down.ts";
import { raiseNotice } from "../../transitions/notice/raise.ts";
import type { Step } from "../../transitions/step.ts";

/** The verdict of the leader, or of an external monitor. */
export interface NodeHealthCommand {
  readonly kind: "node.health";
  readonly node: NodeId;
  /** The last two come from external monitors; a warning is an event, and repaired hardware returns to service. */
  readonly verdict: "heard" | "late" | "silent" | "hardware" | "warning" | "repaired";
  readonly reason: string;
}

export function setNodeHealth(step: Step, command: NodeHealthCommand): Outcome {
  const node = step.state.node(command.node);
  if (node === undefined) return refuse("unknown_node", `there is no node ${quote(command.node)}`);
  const outcome = judged(step, node, command);
  const changed = outcome.kind === "accepted" && outcome.repeated !== true;
  if (changed && isSensitiveHome(step.state, node)) {
    const detail = `${command.verdict}: ${command.reason}`;
    appendAudit(step, SYSTEM_USER, "node.health", { scope: "sensitive", node: node.id, detail });
  }
  return outcome;
}

function judged(step: Step, node: Node, command: NodeHealthCommand): Outcome {
  switch (command.verdict) {
    case "heard":
      return heard(step, node);
    case "late":
      return late(step, node);
    case "silent":
      return silent(step, node, command.reason);
    case "hardware":
      return broken(step, node, command.reason);
    case "warning":
      return warned(step, node, command.reason);
    case "repaired":
      return repaired(step, node);
  }
}

function heard(step: Step, node: Node): Outcome {
  const { state } = node;
  if (state.kind === "down" && state.cause === "silent") returnToService(step, node, state);
  else if (state.kind === "degraded") moveNode(step, node, { kind: "ready", since: step.at });
  else return unchanged(node.id);
  return accepted(node.id);
}

function late(step: Step, node: Node): Outcome {
  if (node.state.kind !== "ready") return unchanged(node.id);
  moveNode(step, node, { kind: "degraded", since: step.at, cause: "silent" });
  return accepted(node.id);
}

function silent(step: Step, node: Node, reason: string): Outcome {
  switch (node.state.kind) {
    case "ready":
    case "degraded":
    case "draining":
    case "drained":
      takeDown(step, node, { cause: "silent", reason });
      raiseSilenceNotice(step, node, reason);
      return accepted(node.id);
    case "down":
      // A disabled node that falls silent can no longer confirm that its work has stopped.
      if (node.claims.length === 0) return unchanged(node.id);
      releaseAll(step, node);
      return accepted(node.id);
    case "unknown":
    case "booting":
    case "failed":
      return unchanged(node.id);
  }
}

function broken(step: Step, node: Node, reason: string): Outcome {
  if (node.state.kind === "down" && node.state.cause === "hardware") return unchanged(node.id);
  takeDown(step, node, { cause: "hardware", reason });
  const text = `node "${node.id}" is down: ${reason}`.slice(0, MAX_NOTICE_LENGTH);
  raiseNotice(step, {
    key: noticeKey("node_broken", node.id),
    kind: "node_broken",
    text,
    tenant: null,
    user: null,
    node: node.id,
  });
  return accepted(node.id);
}

/** Stores the warning until the node is repaired; the checkpoint broker counts such a node as likelier to fail. */
function warned(step: Step, node: Node, reason: string): Outcome {
  if (node.warning?.reason === reason) return unchanged(node.id);
  const known: Node = { ...node, warning: { reason, since: node.warning?.since ?? step.at } };
  step.state.putNode(known);
  step.events.push({ ...nodeChanged(known, node.state.kind, "hardware_warning"), message: reason });
  return accepted(node.id);
}

function repaired(step: Step, node: Node): Outcome {
  const { state } = node;
  const broken = state.kind === "down" && state.cause === "hardware";
  if (!broken && node.warning === undefined) return unchanged(node.id);
  const { warning, ...well } = node;
  if (warning !== undefined) step.state.putNode(well);
  if (broken) returnToService(step, well, state);
  else step.events.push({ ...nodeChanged(well, state.kind, "hardware_ok"), message: warning?.reason ?? "" });
  return accepted(node.id);
}
