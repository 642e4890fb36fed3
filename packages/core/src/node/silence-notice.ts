// What administrators are told of nodes that fall silent: of each, until so many are that a list of them says less than one sentence. Then
// the network or the power is to be looked at, not the nodes, and the notices of everything else must not be pushed out.

import { MAX_NOTICE_LENGTH, noticeKey } from "../notice/notice.ts";
import { clearNotice, notify } from "../notice/raise.ts";
import type { Step } from "../step.ts";
import type { Node } from "./node.ts";

/** Told of one by one. */
export const MOST_SILENT_NAMED = 20;
/** No node has this name: it has a space in it. */
const OTHERS = noticeKey("node_silent", "and others");
/** Servers before keep no notices. */
const NOTICES_VERSION = 2;

/** Of a node that has just gone down for its silence. */
export function tellSilence(step: Step, { id }: Node, reason: string): void {
  if (step.version < NOTICES_VERSION) return;
  const about = { kind: "node_silent", tenant: null, user: null } as const;
  if (moreAreSilent(step)) {
    const text = `more than ${MOST_SILENT_NAMED} nodes are silent: lattice nodes shows which`;
    notify(step, { ...about, key: OTHERS, text });
    return;
  }
  const text = `node "${id}" is down: ${reason}`.slice(0, MAX_NOTICE_LENGTH);
  notify(step, { ...about, key: noticeKey("node_silent", id), text, node: id });
}

/** Of a node that is back in service. */
export function clearSilence(step: Step, { id }: Node): void {
  const { notices } = step.state.tables;
  if (notices.has(noticeKey("node_silent", id)))
    clearNotice(step, { kind: "notice.clear", key: noticeKey("node_silent", id) });
  const others = notices.get(OTHERS);
  if (others !== undefined && others.clearedAt === undefined && !moreAreSilent(step))
    clearNotice(step, { kind: "notice.clear", key: OTHERS });
}

function moreAreSilent({ state }: Step): boolean {
  let silent = 0;
  for (const node of state.nodes()) {
    if (node.state.kind === "down" && node.state.cause === "silent") silent += 1;
    if (silent > MOST_SILENT_NAMED) return true;
  }
  return false;
}
