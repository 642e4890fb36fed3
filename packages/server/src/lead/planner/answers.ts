// The answers of the planner to questions about waiting work: plain values, since they cross threads and servers.

import type { AllocationId, Instant, NodeId, Scores } from "@lattice/core";
import type { Explanation, PendingReason, Suggestion } from "@lattice/scheduler";

export interface ExplainedAllocation {
  readonly explanation: Explanation;
  readonly expected: Instant | null;
  /** The median error of recent estimates; `null` without any. */
  readonly errorMs: number | null;
  readonly sooner: readonly Suggestion[];
}

export interface PlannedSubmission {
  readonly now: Instant;
  readonly startsNow: boolean;
  readonly expected: Instant | null;
  /** Whether that start would be reserved. */
  readonly reserved: boolean;
  readonly nodes: readonly NodeId[];
  readonly backfilled: boolean;
  readonly scores: Scores;
  readonly causes: readonly PendingReason[];
  readonly wouldPreempt: readonly AllocationId[];
  readonly sooner: readonly Suggestion[];
  readonly position: number;
  readonly length: number;
}

export interface QueuePage {
  /** The time of the last cycle; `null` before the first. */
  readonly asOf: Instant | null;
  readonly total: number;
  /** In the order of the last cycle, newer allocations at the end. */
  readonly waiting: readonly QueueEntry[];
}

export interface QueueEntry {
  readonly id: AllocationId;
  readonly scoreMilli: number | null;
  readonly expected: Instant | null;
  readonly reserved: boolean;
  readonly reasons: readonly PendingReason[];
}
