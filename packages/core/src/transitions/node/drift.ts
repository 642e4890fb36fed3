// A node whose configuration changed. It stays in service, the scheduler prefers it less because it matches fewer other
// nodes, and administrators get a notice. It has not drifted when most nodes of its group have the same configuration:
// then that is the intended one. A drifted node of a sensitive vCluster is also drained until an operator has checked it,
// and the audit log records every change of its configuration.

import { SYSTEM_USER } from "../../base/ids.ts";
import type { Node } from "../../model/node/node.ts";
import { noticeKey } from "../../model/notice/notice.ts";
import { isSensitiveHome } from "../../queries/sensitive.ts";
import { appendAudit } from "../audit/append.ts";
import { moveNode } from "../claims/move-node.ts";
import { clearNotice, raiseNotice } from "../notice/raise.ts";
import type { Step } from "../step.ts";

/** Returns the record with its drift after a registration. */
export function withDrift(step: Step, now: Node, before: Node): Node {
  const { drift, ...plain } = now;
  const expected = drift?.expected ?? before.conformance;
  const same = now.conformance === expected || expected === "" || now.conformance === "";
  if (same || isUsual(step, now)) return settled(step, now, plain);
  if (drift !== undefined) return now;
  raiseNotice(step, {
    key: noticeKey("node_drifted", now.id),
    kind: "node_drifted",
    text: `node "${now.id}" has drifted: expected ${expected}, actual ${now.conformance}`,
    tenant: null,
    user: null,
    node: now.id,
  });
  audit(step, now, `expected ${expected}, actual ${now.conformance}`);
  return { ...plain, drift: { expected, since: step.at } };
}

/** Drains a node whose configuration may be wrong; running work ends by itself. */
export function drainDrifted(step: Step, before: Node, node: Node): void {
  const { kind } = node.state;
  if (before.drift !== undefined || node.drift === undefined || !isSensitiveHome(step.state, node)) return;
  if (kind !== "ready" && kind !== "degraded") return;
  const reason = `conformance_drift: expected=${node.drift.expected}, actual=${node.conformance}`;
  const draining = moveNode(step, node, { kind: "draining", since: step.at, reason });
  if (draining.claims.length === 0) moveNode(step, draining, { kind: "drained", since: step.at, reason });
}

function audit(step: Step, node: Node, detail: string): void {
  if (!isSensitiveHome(step.state, node)) return;
  appendAudit(step, SYSTEM_USER, "node.drift", { scope: "sensitive", node: node.id, detail });
}

function settled(step: Step, now: Node, plain: Node): Node {
  if (now.drift === undefined) return now;
  clearNotice(step, noticeKey("node_drifted", now.id));
  audit(step, now, `as expected again: ${now.conformance}`);
  return plain;
}

function isUsual(step: Step, { id, group, conformance }: Node): boolean {
  let all = 0;
  let alike = 1;
  for (const other of step.state.nodes()) {
    if (other.group !== group) continue;
    all += 1;
    if (other.id !== id && other.conformance === conformance) alike += 1;
  }
  return all > 1 && alike * 2 > all;
}
