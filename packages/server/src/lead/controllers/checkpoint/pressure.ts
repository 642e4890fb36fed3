// Queue pressure: how much pending work weighs against running work in the broker's decisions. One look at
// the queue serves all running allocations.

import { type Allocation, HIGHEST_CLASS, preemptionProtection, type View } from "@lattice/core";

export interface QueuePressure {
  /** Nodes that are waited for, as a share of all there are, at most 1. */
  readonly backlog: number;
  /** On one that runs: who waits above it, weighed by class, and how many it shares that with. */
  on(record: Allocation): { readonly urgencyAbove: number; readonly candidates: number };
}

/** Of a longer queue the rest changes nothing any more. */
const MAX_LOOKED_AT = 1_000;

export function queuePressure(view: View): QueuePressure {
  const waiting = new Array<number>(HIGHEST_CLASS + 1).fill(0);
  let wanted = 0;
  let looked = 0;
  for (const { id } of view.vclusters()) {
    for (const { spec } of view.pending(id)) {
      looked += 1;
      if (looked > MAX_LOOKED_AT) break;
      wanted += spec.resources.minNodes;
      const of = Math.min(HIGHEST_CLASS, spec.lifecycle.preemptionClass);
      waiting[of] = (waiting[of] ?? 0) + 1;
    }
  }
  const running = new Array<number>(HIGHEST_CLASS + 1).fill(0);
  if (looked > 0) {
    for (const record of view.placed()) {
      const of = record.spec.lifecycle.preemptionClass;
      if (preemptionProtection(view, record) === null) running[of] = (running[of] ?? 0) + 1;
    }
  }
  const highest = waiting.findLastIndex((count) => count > 0);
  const candidates = running.reduce((sum, count, of) => (of < highest ? sum + count : sum), 0);
  return {
    backlog: view.nodeCount === 0 ? 0 : Math.min(1, wanted / view.nodeCount),
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
