// Queue pressure: how much pending work weighs against running work in the broker's decisions. Computed once
// for all running allocations.

import { type Allocation, HIGHEST_CLASS, preemptionProtection, type View } from "@lattice/core";

export interface QueuePressure {
  /** Nodes requested by pending allocations as a share of all nodes; at most 1. */
  readonly backlog: number;
  /** Pending allocations of higher classes, weighted by class, and the number of running allocations below them. */
  on(record: Allocation): { readonly urgencyAbove: number; readonly candidates: number };
}

/** Pending allocations counted; a longer queue would not change the result. */
const MAX_PENDING = 1_000;

export function queuePressure(view: View): QueuePressure {
  const waiting = new Array<number>(HIGHEST_CLASS + 1).fill(0);
  let requestedNodes = 0;
  let counted = 0;
  for (const { id } of view.vclusters()) {
    for (const { spec } of view.pending(id)) {
      counted += 1;
      if (counted > MAX_PENDING) break;
      requestedNodes += spec.resources.minNodes;
      const of = Math.min(HIGHEST_CLASS, spec.lifecycle.preemptionClass);
      waiting[of] = (waiting[of] ?? 0) + 1;
    }
  }
  const running = new Array<number>(HIGHEST_CLASS + 1).fill(0);
  if (counted > 0) {
    for (const record of view.placed()) {
      const of = record.spec.lifecycle.preemptionClass;
      if (preemptionProtection(view, record) === null) running[of] = (running[of] ?? 0) + 1;
    }
  }
  const highest = waiting.findLastIndex((count) => count > 0);
  const candidates = running.reduce((sum, count, of) => (of < highest ? sum + count : sum), 0);
  return {
    backlog: view.nodeCount === 0 ? 0 : Math.min(1, requestedNodes / view.nodeCount),
    on(record) {
      const own = record.spec.lifecycle.preemptionClass;
      if (own >= highest || preemptionProtection(view, record) !== null) return { urgencyAbove: 0, candidates: 0 };
      const urgencyAbove = waiting.reduce(
        (sum, count, of) => (of > own ? sum + (count * (of - own)) / HIGHEST_CLASS : sum),
        0,
      );
      return { urgencyAbove, candidates };
    },
  };
}
