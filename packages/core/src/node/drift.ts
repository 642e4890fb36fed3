// A node whose configuration is not what it was. It goes on working, is preferred less by the scheduler because it is like fewer
// others, and everybody who should know is told. It has not drifted when most nodes of its group look as it does now: then
// that is how they are meant to be.

import { noticeKey } from "../notice/notice.ts";
import { clearNotice, notify } from "../notice/raise.ts";
import type { Step } from "../step.ts";
import type { Node } from "./node.ts";

/** The record with its drift as it is after a registration. */
export function withDrift(step: Step, now: Node, before: Node): Node {
  const { drift, ...plain } = now;
  const expected = drift?.expected ?? before.conformance;
  const same = now.conformance === expected || expected === "" || now.conformance === "";
  if (same || isUsual(step, now)) return settled(step, now, plain);
  if (drift !== undefined) return now;
  notify(step, {
    key: noticeKey("node_drifted", now.id),
    kind: "node_drifted",
    text: `node "${now.id}" has drifted: expected ${expected}, actual ${now.conformance}`,
    tenant: null,
    user: null,
    node: now.id,
  });
  return { ...plain, drift: { expected, since: step.at } };
}

function settled(step: Step, now: Node, plain: Node): Node {
  if (now.drift === undefined) return now;
  clearNotice(step, { kind: "notice.clear", key: noticeKey("node_drifted", now.id) });
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
