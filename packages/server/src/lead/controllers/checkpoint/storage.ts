// Raises and clears the notice that checkpoints cannot be written. The reports of nodes are in
// the leader's memory only: a new leader clears nothing before every node has had time to report. Pure.

import { type ClearNoticeCommand, type NodeId, noticeKey, type RaiseNoticeCommand, type View } from "@lattice/core";

const STORAGE_NOTICE = noticeKey("checkpoint_storage_unavailable", "cluster");

/** Nodes named in the notice; the others are counted. */
const MAX_NAMED = 5;

/** Returns the nodes in service that cannot write checkpoints, with the problem. */
export const awayOf = (view: View, away: ReadonlyMap<NodeId, string>): readonly (readonly [NodeId, string])[] =>
  [...away].filter(([node]) => (view.node(node)?.state.kind ?? "down") !== "down");

export function decideStorageNotice(
  view: View,
  away: ReadonlyMap<NodeId, string>,
  /** Every connected node has reported its storage. */
  allReported: boolean,
): RaiseNoticeCommand | ClearNoticeCommand | null {
  const notice = view.notice(STORAGE_NOTICE);
  const isRaised = notice !== undefined && notice.clearedAt === undefined;
  const nodes = awayOf(view, away);
  const [first] = nodes;
  if (first === undefined) return isRaised && allReported ? { kind: "notice.clear", key: STORAGE_NOTICE } : null;
  if (isRaised) return null;
  const named = nodes
    .slice(0, MAX_NAMED)
    .map(([node]) => node)
    .join(", ");
  const more = nodes.length > MAX_NAMED ? ` and ${nodes.length - MAX_NAMED} more` : "";
  const text = `checkpoints cannot be written on ${named}${more}: ${first[1]}; no allocation there is preempted`;
  return {
    kind: "notice.raise",
    notice: {
      key: STORAGE_NOTICE,
      kind: "checkpoint_storage_unavailable",
      text: text.slice(0, 1_024),
      tenant: null,
      user: null,
    },
  };
}
