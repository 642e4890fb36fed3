// Summarizes the elements of a task group.

import type { TaskGroupStatus } from "@lattice/sdk";
import { groupIndexes } from "@lattice/wire";

const KINDS = ["running", "pending", "waiting", "suspended", "completed", "failed", "cancelled"] as const;

/** Returns "3 running, 2 waiting, 15 completed". */
export function groupText(group: TaskGroupStatus): string {
  const parts = KINDS.flatMap((kind) => {
    const count = group[kind] ?? 0;
    return count === 0 ? [] : [`${count} ${kind}`];
  });
  return parts.join(", ");
}

/** Returns "20 (0-19), at most 3 at a time: 3 running, 17 waiting". */
export function groupLine(group: TaskGroupStatus): string {
  const { concurrency } = group.range ?? {};
  const range = groupIndexes(group.range ?? {}).text;
  const most = concurrency === undefined ? "" : `, at most ${concurrency} at a time`;
  return `${group.size ?? 0} (${range})${most}: ${groupText(group)}`;
}
