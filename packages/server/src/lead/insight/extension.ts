// The reservation that a longer walltime would delay. Work that was backfilled because it would end in time must not
// stay by extending its walltime afterwards. Checks the nodes reserved now, and does not search for others, so it may refuse
// an extension that would delay nothing. Pure.

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

export interface DelayedReservation {
  readonly allocation: AllocationId;
  readonly startsAt: Instant;
}

/**
 * Returns the earliest delayed reservation; `null` when there is none, or when the work has no nodes or no longer
 * walltime. A task group counts as its elements.
 */
export function firstDelayed(
  view: View,
  cycles: Iterable<Pick<CycleResult, "reservations">>,
  { id, walltime }: { readonly id: AllocationId; readonly walltime: Duration },
): DelayedReservation | null {
  const longer = view.group(id) === undefined ? [view.allocation(id)] : elementsOf(view, id);
  const until = new Map<NodeId, number>();
  for (const record of longer) {
    const before = record?.spec.lifecycle.walltime ?? null;
    if (record === undefined || !isPlaced(record.phase) || before === null || walltime <= before) continue;
    const began = record.phase.kind === "staging" ? record.phase.placedAt : record.phase.startedAt;
    for (const node of record.phase.nodes) until.set(node, began + walltime + WALLTIME_GRACE);
  }
  if (until.size === 0) return null;
  let first: DelayedReservation | null = null;
  for (const { reservations } of cycles)
    for (const { allocation, startsAt, nodes } of reservations) {
      if (first !== null && first.startsAt <= startsAt) continue;
      if (nodes.some((node) => startsAt < (until.get(node) ?? 0))) first = { allocation, startsAt };
    }
  return first;
}

const elementsOf = (view: View, group: AllocationId): Allocation[] =>
  [...view.placed()].filter(({ element }) => element?.group === group);
