// Notices about silent nodes: one for each, up to a number beyond which one sentence says more than a list. Then the
// network or the power is at fault, not the nodes, and other notices must not be pushed out.

import type { Node } from "../../model/node/node.ts";
import { MAX_NOTICE_LENGTH, noticeKey } from "../../model/notice/notice.ts";
import { clearNotice, raiseNotice } from "../notice/raise.ts";
import type { Step } from "../step.ts";

/** Silent nodes with a notice of their own. */
const MOST_SILENT_NAMED = 20;
/** No node has this name: it has a space in it. */
const OTHERS = noticeKey("node_silent", "and others");
/** Of a node that has just gone down for its silence. */
export function raiseSilenceNotice(step: Step, { id }: Node, reason: string): void {
  const about = { kind: "node_silent", tenant: null, user: null } as const;
  if (moreAreSilent(step)) {
    const text = `more than ${MOST_SILENT_NAMED} nodes are silent: lattice nodes shows which`;
    raiseNotice(step, { ...about, key: OTHERS, text });
    return;
  }
  const text = `node "${id}" is down: ${reason}`.slice(0, MAX_NOTICE_LENGTH);
  raiseNotice(step, { ...about, key: noticeKey("node_silent", id), text, node: id });
}

/** Of a node that is back in service. */
export function clearSilenceNotice(step: Step, { id }: Node): void {
  const { notices } = step.state.tables;
  if (notices.has(noticeKey("node_silent", id))) clearNotice(step, noticeKey("node_silent", id));
  const others = notices.get(OTHERS);
  if (others !== undefined && others.clearedAt === undefined && !moreAreSilent(step)) clearNotice(step, OTHERS);
}

function moreAreSilent({ state }: Step): boolean {
  let silent = 0;
  for (const node of state.nodes()) {
    if (node.state.kind === "down" && node.state.cause === "silent") silent += 1;
    if (silent > MOST_SILENT_NAMED) return true;
  }
  return false;
}
