// Whose reserved start a longer walltime would take away. Work that was let in ahead of others because it would be gone in
// time must not stay by asking for more afterwards. Looks at the nodes that are reserved now: whether the scheduler would
// find others for the one who waits is not tried, so an extension may be refused that would have delayed nobody. Pure.

import {
  type Allocation,
  type AllocationId,
  type Duration,
  type Instant,
  isPlaced,
  type NodeId,
  type View,
} from "@lattice/core";
import { type CycleResult, WALLTIME_GRACE } from "@lattice/scheduler";

export interface Delayed {
  readonly allocation: AllocationId;
  readonly startsAt: Instant;
}

/** The first of them; null: nobody's, or it is no extension of work that has nodes. A task group's is that of its elements. */
export function delayedBy(
  view: View,
  cycles: Iterable<Pick<CycleResult, "reservations">>,
  { id, walltime }: { readonly id: AllocationId; readonly walltime: Duration },
): Delayed | null {
  const longer = view.group(id) === undefined ? [view.allocation(id)] : elementsOf(view, id);
  const until = new Map<NodeId, number>();
  for (const record of longer) {
    const before = record?.spec.lifecycle.walltime ?? null;
    if (record === undefined || !isPlaced(record.phase) || before === null || walltime <= before) continue;
    const began = record.phase.kind === "staging" ? record.phase.placedAt : record.phase.startedAt;
    for (const node of record.phase.nodes) until.set(node, began + walltime + WALLTIME_GRACE);
  }
  if (until.size === 0) return null;
  let first: Delayed | null = null;
  for (const { reservations } of cycles)
    for (const { allocation, startsAt, nodes } of reservations) {
      if (first !== null && first.startsAt <= startsAt) continue;
      if (nodes.some((node) => startsAt < (until.get(node) ?? 0))) first = { allocation, startsAt };
    }
  return first;
}

const elementsOf = (view: View, group: AllocationId): Allocation[] =>
  [...view.placed()].filter(({ element }) => element?.group === group);
