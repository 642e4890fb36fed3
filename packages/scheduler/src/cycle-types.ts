// What a scheduling cycle takes and gives. The input is a compact, immutable snapshot of the
// view for one vCluster; the output is a plan and everything learnt on the way. Equal inputs give
// equal outputs, whatever the order of their lists. What may be absent is a signal: without it the
// cycle decides as if nothing were known, and invents nothing.

import type {
  AllocationId,
  Attempt,
  Constraints,
  Duration,
  Instant,
  LogIndex,
  NodeId,
  Offer,
  Placement,
  Scores,
  TenantId,
  VClusterId,
  Weights,
} from "@lattice/core";
import type { Reuse } from "./machine/floor.ts";
import type { NodeInput } from "./node-input.ts";
import type { AwaitingInput, Preemption, VictimInput } from "./preempt/preempt-types.ts";
import type { Returning } from "./returns.ts";
import type { WaitMeasure } from "./score/wait-time.ts";
import type { Signals } from "./signals.ts";

export type { NodeInput } from "./node-input.ts";
export type * from "./preempt/preempt-types.ts";

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
  /** The most groups it may span; absent: any number. */
  readonly maxGroups?: number;
  /** Of storage, while it runs; absent: none. */
  readonly storageMBps?: number;
  /** vClusters on whose nodes it may run, in order; absent: none but its own. */
  readonly borrowsFrom?: readonly VClusterId[];
  /** It takes a part of a node only, and may share it. */
  readonly shares?: true;
  /** Absent: it takes no checkpoints. */
  readonly checkpoint?: CheckpointInput;
}

/** What is known of the checkpoints of one that waits. */
export interface CheckpointInput {
  /** How long its last one took; null: it never took any. */
  readonly took: Duration | null;
  /** What it asks for, on all of its nodes. */
  readonly nodes: number;
  readonly gpus: number;
  readonly memoryBytes: number;
}

/** A node that is shared already, and what is left of it. */
export interface RoomInput {
  readonly node: NodeId;
  readonly tenant: TenantId;
  readonly capabilities: Offer & Pick<NodeInput, "cpuCores" | "memoryBytes" | "gpuCount">;
  readonly left: Pick<NodeInput, "cpuCores" | "memoryBytes" | "gpuCount">;
}

/** Nodes that are busy now and when they are expected back. */
export interface ReleaseInput {
  readonly allocation: AllocationId;
  readonly nodes: readonly NodeId[];
  /** Null: never (unbounded). */
  readonly endsAt: Instant | null;
  /** Whose quota it gives back. */
  readonly tenant?: TenantId;
  readonly storageMBps?: number;
}

export interface PoolInput {
  readonly limit: number;
  readonly current: number;
  /** When running work gives its nodes back; absent: nobody knows. */
  readonly returns?: readonly { readonly endsAt: Instant | null; readonly nodes: number }[];
}

export interface TenantInput {
  readonly id: TenantId;
  readonly nodesInUse: number;
  readonly running: number;
  readonly maxNodes: number | null;
  readonly maxConcurrentAllocations: number | null;
  /** Thousandths of the cluster. */
  readonly fairShareMilli: number;
  /** Thousandths of its share it may use before it steps back behind the others; absent: no such bound. */
  readonly burstAllowanceMilli?: number;
  /** Thousandths of its budget used, the worse of GPU-hours and node-hours; absent: no budget. */
  readonly budgetUsedMilli?: number;
  /** Its part of what all used lately, in thousandths; absent: what it holds now counts. */
  readonly usedShareMilli?: number;
}

export interface CycleInput {
  readonly vcluster: VClusterId;
  readonly now: Instant;
  readonly basis: LogIndex;
  readonly weights: Weights;
  readonly fifo: boolean;
  /** What waits are measured against; `elapsed` when absent. */
  readonly waitMeasure?: WaitMeasure;
  /** Nodes are taken where most are gone already, not in the fewest groups. */
  readonly packs?: boolean;
  readonly backfillDepth: number;
  readonly nodes: readonly NodeInput[];
  readonly pending: readonly PendingInput[];
  readonly releases: readonly ReleaseInput[];
  readonly tenants: readonly TenantInput[];
  /** Nodes that sensitive work holds, and may hold; absent: no such limit concerns this vCluster. */
  readonly pool?: PoolInput;
  /** Shared nodes of this vCluster; absent: it shares none. */
  readonly rooms?: readonly RoomInput[];
  readonly signals?: Signals;
  /** What the cycle before promised; kept where it still can be. */
  readonly previous?: readonly Reservation[];
  /** Of other vClusters on nodes they share with this one: never touched. */
  readonly foreign?: readonly ForeignReservation[];
  /** From the cycle before; absent: everything is worked out anew. */
  readonly reuse?: Reuse;
  /** Beside `nodes` and `tenants`, where they were kept from the cycle before: the same in a quicker form. */
  readonly ground?: Ground;
  /** Those about whom a brief report may be silent, because they have been told about before. */
  readonly told?: ReadonlyMap<AllocationId, unknown>;
  /** `full`: reasons, estimates and scores for everyone pending; `none`: of reservations alone; `brief` when absent. */
  readonly report?: Report;
  /** A trial: what becomes of those behind this one is of no interest; absent: of everybody. */
  readonly until?: AllocationId;
  /** Running work that may be stopped for a higher class; absent: none. */
  readonly victims?: readonly VictimInput[];
  /** Nodes freed for those that wait, of every vCluster. */
  readonly awaiting?: readonly AwaitingInput[];
  /** Those that wait are sensitive claims, which go before everything. */
  readonly sensitive?: boolean;
  /** So many are stopped at most for one of those that wait; absent: the usual. */
  readonly maxVictims?: number;
  /** Called around what is to be timed; the scheduler has no clock. Absent: nothing is timed. */
  readonly timed?: <T>(what: "cost_function", run: () => T) => T;
}

export interface Ground {
  /** By place in `nodes`: one bit for each that is free. */
  readonly free: Uint32Array;
  /** By place: 0 when free, else when its last claim ends by what was asked for; Infinity: never, or nobody knows. */
  readonly from: Float64Array;
  /** How many usable nodes come back when. */
  readonly returning: Returning;
  readonly tenantById: ReadonlyMap<string, TenantInput>;
  /** What was worked out about those that wait; cycles fill it in. */
  readonly jobs: KeptJobs;
}

export interface KeptJobs {
  /** What they were made for; null: for nothing yet. */
  of: unknown;
  /** By place in the queue; only cycles know what is in it. */
  list: unknown[];
}

/** How much a cycle tells about those that wait. */
export type Report = "none" | "brief" | "full";

export type PendingReasonCode =
  | "quota_nodes" // waiting for quota headroom (nodes)
  | "sensitive_pool" // waiting for room in the pool of sensitive work
  | "quota_allocations" // waiting for quota headroom (running allocations)
  | "no_matching_nodes" // not enough nodes satisfy the constraints, even when all were free
  | "busy" // enough nodes match, too few are free
  | "reserved" // free nodes are held for an allocation ahead
  | "power" // starting it would exceed the power budget
  | "storage" // starting it would exceed the storage bandwidth
  | "topology" // free nodes are spread over too many groups, or over several conformance groups
  | "exchanged" // others that are worth more together started in its place
  | "preempting" // room is being made for it
  | "priority" // behind others in the queue
  | "dependency" // what it depends on has not ended
  | "held_by_user" // until its owner releases it
  | "held_by_admin" // until somebody releases it who administers it
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
  /** Null: it never ends; absent in promises of older makers. */
  readonly endsAt?: Instant | null;
}

export interface ForeignReservation {
  /** Whose; for explanations. */
  readonly allocation?: AllocationId;
  readonly vcluster?: VClusterId;
  readonly startsAt: Instant;
  /** Null: never. */
  readonly endsAt: Instant | null;
  readonly nodes: readonly NodeId[];
}

export interface CycleResult {
  readonly vcluster: VClusterId;
  readonly basis: LogIndex;
  /** In the order in which they were decided. */
  readonly placements: readonly Placement[];
  readonly reservations: readonly Reservation[];
  /** Running work to be stopped, and for whom; in the order in which it was decided. */
  readonly preemptions: readonly Preemption[];
  readonly reasons: ReadonlyMap<AllocationId, readonly PendingReason[]>;
  /** Expected start: of those with a reservation, and in a full report of everyone who can start at all. */
  readonly estimates: ReadonlyMap<AllocationId, Instant>;
  /** Of those that wait, as they were ordered by; empty in a brief report. */
  readonly scores: ReadonlyMap<AllocationId, Scores>;
  /** How many pending allocations the cycle looked at. */
  readonly considered: number;
}
