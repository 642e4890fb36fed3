// The input and the result of a scheduling cycle. The input is a compact, immutable snapshot of the view for one
// vCluster. Equal inputs give equal results, whatever the order of their lists. An absent signal means that nothing is
// known, and the cycle assumes nothing.

import type {
  AllocationId,
  Attempt,
  Constraints,
  Duration,
  Instant,
  LogIndex,
  NodeId,
  NodeOffer,
  Placement,
  Scores,
  TenantId,
  VClusterId,
  Weights,
} from "@lattice/core";
import type { CycleCache } from "./cycle-cache.ts";
import type { NodeInput } from "./node-input.ts";
import type { AwaitingInput, Preemption, VictimInput } from "./preemption.ts";
import type { ReleaseTally } from "./releases.ts";
import type { Signals } from "./signals.ts";

export type { NodeInput } from "./node-input.ts";
export type * from "./preemption.ts";

export interface PendingInput {
  readonly id: AllocationId;
  readonly tenant: TenantId;
  readonly submittedAt: Instant;
  readonly minNodes: number;
  readonly maxNodes: number;
  readonly constraints: Constraints;
  /** `null` when unbounded. */
  readonly walltime: Duration | null;
  readonly preemptionClass: number;
  /** The number of the attempt that a placement would start. */
  readonly nextAttempt: Attempt;
  /** vClusters whose nodes it may borrow, in order. Default: none. */
  readonly borrowsFrom?: readonly VClusterId[];
  /** It needs only a part of a node, and may share it. */
  readonly canShareNode?: true;
  /** Its checkpoints, when it takes any. */
  readonly checkpoint?: CheckpointInput;
}

/** The checkpoints of a pending allocation. */
export interface CheckpointInput {
  /** The duration of its last checkpoint; `null` when it has none. */
  readonly lastDuration: Duration | null;
  /** Its request, over all of its nodes. */
  readonly nodes: number;
  readonly gpus: number;
  readonly memoryBytes: number;
}

/** A node that is shared already, and its remaining capacity. */
export interface SharedNodeInput {
  readonly node: NodeId;
  readonly tenant: TenantId;
  readonly capabilities: NodeOffer & Pick<NodeInput, "cpuCores" | "memoryBytes" | "gpuCount">;
  readonly remaining: Pick<NodeInput, "cpuCores" | "memoryBytes" | "gpuCount">;
}

/** Busy nodes and their expected release. */
export interface ReleaseInput {
  readonly allocation: AllocationId;
  readonly nodes: readonly NodeId[];
  /** `null` when unbounded. */
  readonly endsAt: Instant | null;
  /** The tenant whose quota the release frees. */
  readonly tenant?: TenantId;
  readonly storageMBps?: number;
}

interface PoolInput {
  readonly limit: number;
  readonly current: number;
  /** When running work releases its nodes. Absent when unknown. */
  readonly returns?: readonly { readonly endsAt: Instant | null; readonly nodes: number }[];
}

export interface TenantInput {
  readonly id: TenantId;
  readonly nodesInUse: number;
  readonly running: number;
  readonly maxNodes: number | null;
  readonly maxConcurrentAllocations: number | null;
  /** In thousandths of the cluster. */
  readonly fairShareMilli: number;
  /** Thousandths of its share that it may use before it moves behind others. Absent without such a limit. */
  readonly burstAllowanceMilli?: number;
  /** Thousandths of its budget used, the worse of GPU-hours and node-hours. Absent without a budget. */
  readonly budgetUsedMilli?: number;
  /** Its part of the recent use by all tenants, in thousandths. Absent when its current nodes count instead. */
  readonly usedShareMilli?: number;
}

/** The reference of a wait: the same one for all, or the walltime of each request. */
export type WaitMeasure = "elapsed" | "proportional";

export interface CycleInput {
  readonly vcluster: VClusterId;
  readonly now: Instant;
  readonly basis: LogIndex;
  readonly weights: Weights;
  readonly isFifo: boolean;
  /** Default: `elapsed`. */
  readonly waitMeasure?: WaitMeasure;
  /** Fill the groups that are used most, instead of taking the fewest groups. */
  readonly packsNodes?: boolean;
  readonly backfillDepth: number;
  readonly nodes: readonly NodeInput[];
  readonly pending: readonly PendingInput[];
  readonly releases: readonly ReleaseInput[];
  readonly tenants: readonly TenantInput[];
  /** The pool of sensitive work. Absent when no such limit applies to this vCluster. */
  readonly pool?: PoolInput;
  /** Shared nodes of this vCluster. Absent when it shares none. */
  readonly sharedNodes?: readonly SharedNodeInput[];
  readonly signals?: Signals;
  /** The reservations of the previous cycle, carried over where they still hold. */
  readonly previousReservations?: readonly Reservation[];
  /** Reservations of other vClusters on shared nodes; never changed. */
  readonly foreignReservations?: readonly ForeignReservation[];
  /** The cache of the previous cycle. Absent: everything is computed from scratch. */
  readonly cache?: CycleCache;
  /** The same facts as `nodes` and `tenants`, as arrays maintained across cycles. */
  readonly prepared?: PreparedInput;
  /** Allocations that a brief report may leave out, since an earlier report covers them. */
  readonly reported?: ReadonlyMap<AllocationId, unknown>;
  /** Default: `brief`. */
  readonly report?: ReportLevel;
  /** A trial: the cycle may stop after this allocation's turn. */
  readonly stopAfter?: AllocationId;
  /** Running work that higher classes may preempt. */
  readonly victims?: readonly VictimInput[];
  /** Allocations of all vClusters that wait for nodes freed by preemption. */
  readonly awaiting?: readonly AwaitingInput[];
  /** The pending allocations are sensitive claims, which may preempt anything. */
  readonly isSensitive?: boolean;
  /** The most victims of one preemption. Default: the limit of the cluster. */
  readonly maxVictims?: number;
  /** Measures the time of `run`; the scheduler has no clock. */
  readonly timed?: <T>(what: "cost_function", run: () => T) => T;
}

export interface PreparedInput {
  /** By index in `nodes`: one bit for each free node. */
  readonly free: Uint32Array;
  /** By index: 0 when free, else the planned end of its last claim; Infinity when unbounded or unknown. */
  readonly releasedAt: Float64Array;
  /** How many usable nodes are released at which instant. */
  readonly releaseTally: ReleaseTally;
  readonly tenantById: ReadonlyMap<string, TenantInput>;
  /** Jobs derived from the pending allocations; cycles fill it. */
  readonly jobCache: JobCache;
}

export interface JobCache {
  /** The matches that the jobs were derived from; `null` before the first cycle. */
  builtFor: unknown;
  /** By index in the queue; opaque to all but the queue. */
  jobs: unknown[];
}

/**
 * `full`: reasons, estimates and scores for all pending allocations. `brief`: reasons for the first. `none`:
 * reservations only.
 */
export type ReportLevel = "none" | "brief" | "full";

type PendingReasonCode =
  | "quota_nodes" // the tenant's quota of nodes is used up
  | "sensitive_pool" // the pool of sensitive work is used up
  | "quota_allocations" // the tenant's quota of running allocations is used up
  | "no_matching_nodes" // too few nodes satisfy the constraints, even if all were free
  | "busy" // enough nodes match, too few are free
  | "reserved" // free nodes are reserved for an allocation ahead
  | "power" // a start would exceed the power budget
  | "storage" // a start would exceed the storage bandwidth
  | "topology" // free nodes are spread over too many groups, or over several conformance values
  | "exchanged" // other allocations, worth more together, started instead
  | "preempting" // victims are being stopped for it
  | "priority" // behind others in the queue
  | "dependency" // a dependency has not ended
  | "held_by_user" // until its owner releases it
  | "held_by_admin" // until an administrator releases it
  | "not_considered"; // beyond what one cycle considers

export interface PendingReason {
  readonly code: PendingReasonCode;
  /** A sentence with the figures. */
  readonly text: string;
}

export interface Reservation {
  readonly allocation: AllocationId;
  readonly startsAt: Instant;
  readonly nodes: readonly NodeId[];
  /** `null` when unbounded. */
  readonly endsAt?: Instant | null;
}

export interface ForeignReservation {
  /** The owner, for explanations. */
  readonly allocation?: AllocationId;
  readonly vcluster?: VClusterId;
  /** The tenant of the owner, whose quota it keeps. */
  readonly tenant?: TenantId;
  /** Its nodes count for the pool of sensitive work. */
  readonly sensitive?: boolean;
  readonly startsAt: Instant;
  /** `null` when unbounded. */
  readonly endsAt: Instant | null;
  readonly nodes: readonly NodeId[];
}

export interface CycleResult {
  readonly vcluster: VClusterId;
  readonly basis: LogIndex;
  /** In the order of the decisions. */
  readonly placements: readonly Placement[];
  readonly reservations: readonly Reservation[];
  /** Running work to stop, and for which allocation, in the order of the decisions. */
  readonly preemptions: readonly Preemption[];
  readonly reasons: ReadonlyMap<AllocationId, readonly PendingReason[]>;
  /**
   * Expected starts: of reservations and preemptions, and in a full report of every allocation that can start at all.
   */
  readonly estimates: ReadonlyMap<AllocationId, Instant>;
  /** The scores that ordered the queue; empty in a brief report. */
  readonly scores: ReadonlyMap<AllocationId, Scores>;
  /** How many pending allocations the cycle considered. */
  readonly considered: number;
}
