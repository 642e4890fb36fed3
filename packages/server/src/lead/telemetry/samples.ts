// The newest usage samples of allocations from their agents: in the leader's memory, like heartbeats, bounded in
// number and age. They are only displayed; no decision uses them.

import { type AllocationId, type Instant, type NodeId, parseAllocationId } from "@lattice/core";
import type { pb } from "@lattice/wire";
import type { Clock } from "../../base/clock.ts";

export interface Sample {
  readonly node: NodeId;
  /** Time of arrival here: the clocks of agents differ. */
  readonly at: Instant;
  readonly values: Readonly<Record<string, number>>;
}

export interface Samples {
  record(node: NodeId, samples: readonly pb.AttemptMeasures[]): void;
  /** Returns the samples that arrived after `after`, oldest first. */
  since(allocation: AllocationId, after: number): readonly Sample[];
  forget(): void;
}

/** An hour of one node every second, or of a hundred nodes every 30 s. */
const MAX_PER_ALLOCATION = 12_000;
/** Allocations beyond this limit are dropped, least recently sampled first. */
const MAX_ALLOCATIONS = 10_000;
const MAX_AGE_MS = 3_600_000;

export function createSamples(clock: Clock): Samples {
  const byAllocation = new Map<AllocationId, Sample[]>();

  function add(allocation: AllocationId, sample: Sample): void {
    const held = byAllocation.get(allocation) ?? [];
    held.push(sample);
    const oldest = held.findIndex(({ at }) => sample.at - at <= MAX_AGE_MS);
    const surplus = Math.max(oldest, held.length - MAX_PER_ALLOCATION);
    if (surplus > 0) held.splice(0, surplus);
    // Last in insertion order: most recently sampled.
    byAllocation.delete(allocation);
    byAllocation.set(allocation, held);
    if (byAllocation.size <= MAX_ALLOCATIONS) return;
    for (const first of byAllocation.keys()) {
      byAllocation.delete(first);
      return;
    }
  }

  return {
    record(node, samples) {
      for (const { allocationId, values } of samples) {
        const allocation = parseAllocationId(allocationId);
        if (allocation !== null) add(allocation, { node, at: clock.now(), values });
      }
    },
    since: (allocation, after) => (byAllocation.get(allocation) ?? []).filter(({ at }) => at > after),
    forget: () => byAllocation.clear(),
  };
}
