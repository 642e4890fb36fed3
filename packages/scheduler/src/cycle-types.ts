// What a scheduling cycle takes and gives. The input is a compact, immutable snapshot of the
// view for one vCluster; the output is a plan and everything learnt on the way. Equal inputs give
// equal outputs, whatever the order of their lists.

import type {
  AllocationId,
  Attempt,
  Constraints,
  Duration,
  GroupId,
  Instant,
  LogIndex,
  NodeId,
  Placement,
  TenantId,
  VClusterId,
  Weights,
} from "@lattice/core";

export interface NodeInput {
  readonly id: NodeId;
  readonly group: GroupId;
  readonly conformance: string;
  readonly cpuCores: number;
  readonly memoryBytes: number;
  readonly gpuType: string;
  readonly gpuCount: number;
  readonly features: readonly string[];
  /** Ready and without a claim. */
  readonly free: boolean;
  /** Ready or on its way to be free: counts towards what could ever fit. */
  readonly usable: boolean;
  /** Why it is not free, for explanations: "busy", "drained", "down", ... ; empty when free. */
  readonly notFreeBecause: string;
}

export interface PendingInput {
  readonly id: AllocationId;
  readonly tenant: TenantId;
  readonly submittedAt: Instant;
  readonly minNodes: number;
  readonly maxNodes: number;
  readonly constraints: Constraints;
  /** Null: unbounded. */
  readonly walltime: Duration | null;
  readonly preemptionClass: number;
  /** The attempt a placement would begin. */
  readonly nextAttempt: Attempt;
}

/** Nodes that are busy now and when they are expected back. */
export interface ReleaseInput {
  readonly allocation: AllocationId;
  readonly nodes: readonly NodeId[];
  /** Null: never (unbounded). */
  readonly endsAt: Instant | null;
}

export interface TenantInput {
  readonly id: TenantId;
  readonly nodesInUse: number;
  readonly running: number;
  readonly maxNodes: number | null;
  readonly maxConcurrentAllocations: number | null;
  /** Thousandths of the cluster. */
  readonly fairShareMilli: number;
}

export interface CycleInput {
  readonly vcluster: VClusterId;
  readonly now: Instant;
  readonly basis: LogIndex;
  readonly weights: Weights;
  readonly fifo: boolean;
  readonly backfillDepth: number;
  readonly nodes: readonly NodeInput[];
  readonly pending: readonly PendingInput[];
  readonly releases: readonly ReleaseInput[];
  readonly tenants: readonly TenantInput[];
}

export type PendingReasonCode =
  | "quota_nodes" // waiting for quota headroom (nodes)
  | "quota_allocations" // waiting for quota headroom (running allocations)
  | "no_matching_nodes" // not enough nodes satisfy the constraints, even when all were free
  | "busy" // enough nodes match, too few are free
  | "reserved" // free nodes are held for an allocation ahead
  | "priority" // behind others in the queue
  | "not_considered"; // beyond what one cycle looks at

export interface PendingReason {
  readonly code: PendingReasonCode;
  /** A sentence for people, with the figures. */
  readonly text: string;
}

export interface Reservation {
  readonly allocation: AllocationId;
  readonly startsAt: Instant;
  readonly nodes: readonly NodeId[];
}

export interface CycleResult {
  readonly vcluster: VClusterId;
  readonly basis: LogIndex;
  /** In the order in which they were decided. */
  readonly placements: readonly Placement[];
  readonly reservations: readonly Reservation[];
  readonly reasons: ReadonlyMap<AllocationId, readonly PendingReason[]>;
  /** Expected start of those with a reservation. */
  readonly estimates: ReadonlyMap<AllocationId, Instant>;
  /** How many pending allocations the cycle looked at. */
  readonly considered: number;
}
