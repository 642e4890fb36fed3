// Notices about silent nodes: one per node up to a limit, then one for all of them. Many silent nodes mean a failure of
// the network or power, and must not push out other notices.

import type { Node } from "../../model/node/node.ts";
import { MAX_NOTICE_LENGTH, noticeKey } from "../../model/notice/notice.ts";
import { clearNotice, raiseNotice } from "../notice/raise.ts";
import type { Step } from "../step.ts";

/** Silent nodes with their own notice. */
const MAX_SILENT_NAMED = 20;
/** No node can have this name: it contains a space. */
const OTHERS = noticeKey("node_silent", "and others");
/** Raises the notice for a node that became silent. */
export function raiseSilenceNotice(step: Step, { id }: Node, reason: string): void {
  const about = { kind: "node_silent", tenant: null, user: null } as const;
  if (moreAreSilent(step)) {
    const text = `more than ${MAX_SILENT_NAMED} nodes are silent: lattice nodes shows which`;
    raiseNotice(step, { ...about, key: OTHERS, text });
    return;
  }
  const text = `node "${id}" is down: ${reason}`.slice(0, MAX_NOTICE_LENGTH);
  raiseNotice(step, { ...about, key: noticeKey("node_silent", id), text, node: id });
}

/** Clears the notice of a node that is back in service. */
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
    if (silent > MAX_SILENT_NAMED) return true;
  }
  return false;
}
