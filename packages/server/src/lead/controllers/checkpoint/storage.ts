// Raises and clears the notice that checkpoints cannot be written. What nodes say is in the memory of
// the leader alone: a new one takes nothing back before every node has had the time to speak. Pure.

import { type ClearNoticeCommand, type NodeId, noticeKey, type RaiseNoticeCommand, type View } from "@lattice/core";

export const STORAGE_NOTICE = noticeKey("checkpoint_storage_unavailable", "cluster");

/** Named in the notice; the others are counted. */
const NAMED = 5;

/** Nodes that cannot write, and are there. */
export const awayOf = (view: View, away: ReadonlyMap<NodeId, string>): readonly (readonly [NodeId, string])[] =>
  [...away].filter(([node]) => (view.node(node)?.state.kind ?? "down") !== "down");

export function decideStorageNotice(
  view: View,
  away: ReadonlyMap<NodeId, string>,
  /** All who are there have spoken. */
  settled: boolean,
): RaiseNoticeCommand | ClearNoticeCommand | null {
  const notice = view.notice(STORAGE_NOTICE);
  const lasts = notice !== undefined && notice.clearedAt === undefined;
  const nodes = awayOf(view, away);
  const [first] = nodes;
  if (first === undefined) return lasts && settled ? { kind: "notice.clear", key: STORAGE_NOTICE } : null;
  if (lasts) return null;
  const named = nodes
    .slice(0, NAMED)
    .map(([node]) => node)
    .join(", ");
  const more = nodes.length > NAMED ? ` and ${nodes.length - NAMED} more` : "";
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
