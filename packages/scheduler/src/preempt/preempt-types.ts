// What preemption takes and gives: running work that may be stopped, nodes that were freed for somebody,
// and the decision itself, which is data for whoever carries it out.

import type { AllocationId, Attempt, Duration, Instant, NodeId, PreemptionReason, TenantId } from "@lattice/core";

/** Running work that no rule shields; whether it is worth stopping is decided here. */
export interface VictimInput {
  readonly allocation: AllocationId;
  readonly attempt: Attempt;
  readonly tenant: TenantId;
  readonly preemptionClass: number;
  readonly nodes: readonly NodeId[];
  /** Null: it has not started yet, so nothing is lost. */
  readonly startedAt: Instant | null;
  /** Null: unbounded. */
  readonly walltime: Duration | null;
  /** False: stopping it is the end of it. */
  readonly requeues: boolean;
  /** GPUs of each of its nodes, at least 1: what a minute of it is worth. */
  readonly gpusPerNode: number;
  /** Within so much of its walltime it is let finish; absent: five minutes. */
  readonly nearCompletion?: Duration;
  /** It sits on nodes whose home is the vCluster that plans. */
  readonly borrows: boolean;
  /** How often it was stopped to make room before; absent: never. */
  readonly preempted?: number;
  /** It is asked for a checkpoint before it is stopped. Absent: it takes none. */
  readonly checkpoints?: boolean;
}

/** Nodes that were freed for somebody who has not started yet. */
export interface AwaitingInput {
  readonly allocation: AllocationId;
  /** Of the vCluster that plans. */
  readonly own: boolean;
  readonly nodes: readonly NodeId[];
}

export interface Victim {
  readonly allocation: AllocationId;
  readonly attempt: Attempt;
  readonly reason: PreemptionReason;
  /** It cannot write its checkpoint at present, and is stopped without. */
  readonly force?: boolean;
}

/** Stop these, and start the allocation on these nodes when they are free. */
export interface Preemption {
  readonly allocation: AllocationId;
  readonly victims: readonly Victim[];
  readonly nodes: readonly NodeId[];
  /** When the nodes should be free. */
  readonly startsAt: Instant;
}
