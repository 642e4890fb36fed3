// The input and the result of preemption: running work that may be stopped, allocations that wait for freed nodes, and
// the decision itself.

import type { AllocationId, Attempt, Duration, Instant, NodeId, PreemptionReason, TenantId } from "@lattice/core";

/** Running work that no rule protects; whether stopping it pays is decided by the cycle. */
export interface VictimInput {
  readonly allocation: AllocationId;
  readonly attempt: Attempt;
  readonly tenant: TenantId;
  readonly preemptionClass: number;
  readonly nodes: readonly NodeId[];
  /** `null` before it has started: stopping it loses nothing. */
  readonly startedAt: Instant | null;
  /** `null` when unbounded. */
  readonly walltime: Duration | null;
  /** False when stopping it ends it for good. */
  readonly requeues: boolean;
  /** GPUs of each of its nodes, at least 1: the value of one minute. */
  readonly gpusPerNode: number;
  /** This close to its walltime it may finish. Default: five minutes. */
  readonly nearCompletion?: Duration;
  /** It borrows nodes of the vCluster that plans. */
  readonly borrows: boolean;
  /** How often it was preempted before. */
  readonly preempted: number;
  /** It takes a checkpoint before it is stopped. Default: no. */
  readonly checkpoints?: boolean;
}

/** An allocation that waits for nodes freed by preemption. */
export interface AwaitingInput {
  readonly allocation: AllocationId;
  /** Whether it belongs to the vCluster that plans. */
  readonly own: boolean;
  readonly nodes: readonly NodeId[];
}

export interface Victim {
  readonly allocation: AllocationId;
  readonly attempt: Attempt;
  readonly reason: PreemptionReason;
  /** Its checkpoint cannot be written at present; it is stopped without one. */
  readonly force?: boolean;
}

/** Stop these victims, and start the allocation on these nodes when they are free. */
export interface Preemption {
  readonly allocation: AllocationId;
  readonly victims: readonly Victim[];
  readonly nodes: readonly NodeId[];
  /** When the nodes should be free. */
  readonly startsAt: Instant;
}
