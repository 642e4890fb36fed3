// The phases of an allocation, each carrying only what is true in it, and the table of legal
// moves. The table is the diagram: the docs page is printed from it.

import type { CheckpointRequest, SuspendCause } from "../checkpoint/checkpoint.ts";
import type { Attempt, Instant, NodeId, UserName } from "../ids.ts";

export type PhaseKind =
  | "pending"
  | "staging"
  | "running"
  | "checkpointing"
  | "suspended"
  | "completed"
  | "failed"
  | "cancelled";

/** Why a pending allocation is pending again, or "submitted" for the first wait. */
export type PendingCause =
  | "submitted"
  | "node_failure"
  | "launch_failed"
  | "prologue_failed"
  | "drained"
  | "policy"
  | "updated"
  | "preempted"
  /** By somebody, after its walltime was over. */
  | "resumed";

export type FailureReason =
  | "exit_code"
  | "signal"
  | "walltime_exceeded"
  | "node_failure"
  | "launch_failed"
  | "prologue_failed"
  | "oom"
  | "lost"
  | "stopped"
  | "probe_failed"
  | "requeue_limit"
  | "preempted"
  /** Of a task group: of its elements some failed. */
  | "element_failed";

export interface PendingPhase {
  readonly kind: "pending";
  readonly since: Instant;
  readonly cause: PendingCause;
  /** More about the cause; absent: nothing. */
  readonly message?: string;
  /** It is not queued before: what fails again and again is begun less and less often. */
  readonly heldUntil?: Instant;
  /** Why; absent: it has failed before. */
  readonly heldBecause?: string;
  /** Others were stopped for it: these nodes are for it. */
  readonly awaits?: Awaited;
}

export interface Awaited {
  readonly nodes: readonly NodeId[];
  readonly since: Instant;
}

/** What one node has reported about the current attempt. */
export interface NodeProgress {
  readonly state: "ordered" | "staging" | "running" | "completed" | "failed";
  readonly exitCode: number | null;
  readonly message: string;
}

/** An attempt that holds nodes. `progress` has exactly one entry per node, in node order. */
export interface PlacedFacts {
  readonly nodes: readonly NodeId[];
  readonly placedAt: Instant;
  readonly progress: readonly NodeProgress[];
  /** By node, where nodes came later than others; absent: all have the record's. */
  readonly attempts?: readonly Attempt[];
}

export interface StagingPhase extends PlacedFacts {
  readonly kind: "staging";
}
export interface RunningPhase extends PlacedFacts {
  readonly kind: "running";
  readonly startedAt: Instant;
  /** Since when these nodes are charged, where others were before; absent: since its start. */
  readonly countedFrom?: Instant;
}
export interface CheckpointingPhase extends PlacedFacts {
  readonly kind: "checkpointing";
  readonly startedAt: Instant;
  readonly since: Instant;
  readonly request: CheckpointRequest;
}
export interface SuspendedPhase {
  readonly kind: "suspended";
  readonly since: Instant;
  readonly cause: SuspendCause;
  readonly message: string;
}

/** What stays true of the last attempt once the allocation is final. */
export interface EndedFacts {
  readonly nodes: readonly NodeId[];
  /** Absent: it never was, or it is not known any more. */
  readonly placedAt?: Instant;
  /** By node, as while it was placed. */
  readonly attempts?: readonly Attempt[];
  readonly startedAt: Instant | null;
  readonly endedAt: Instant;
  readonly exitCode: number | null;
  readonly message: string;
}
export interface CompletedPhase extends EndedFacts {
  readonly kind: "completed";
}
export interface FailedPhase extends EndedFacts {
  readonly kind: "failed";
  readonly reason: FailureReason;
}
export interface CancelledPhase extends EndedFacts {
  readonly kind: "cancelled";
  readonly by: UserName;
  readonly reason: string;
}

export type PlacedPhase = StagingPhase | RunningPhase | CheckpointingPhase;
export type FinalPhase = CompletedPhase | FailedPhase | CancelledPhase;
export type AllocationPhase = PendingPhase | PlacedPhase | SuspendedPhase | FinalPhase;

export const allocationMoves = {
  pending: ["staging", "running", "cancelled", "failed"],
  staging: ["pending", "running", "failed", "cancelled"],
  running: ["checkpointing", "pending", "completed", "failed", "cancelled"],
  checkpointing: ["suspended", "running", "pending", "failed", "cancelled"],
  suspended: ["pending", "cancelled", "failed"],
  completed: [],
  failed: [],
  cancelled: [],
} as const satisfies Record<PhaseKind, readonly PhaseKind[]>;

export const canMove = (from: PhaseKind, to: PhaseKind): boolean =>
  (allocationMoves[from] as readonly PhaseKind[]).includes(to);

export const isFinal = (phase: AllocationPhase): phase is FinalPhase =>
  phase.kind === "completed" || phase.kind === "failed" || phase.kind === "cancelled";

export const isPlaced = (phase: AllocationPhase): phase is PlacedPhase =>
  phase.kind === "staging" || phase.kind === "running" || phase.kind === "checkpointing";

/** Its processes run and are to go on running. */
export const goesOn = (phase: AllocationPhase): phase is RunningPhase | CheckpointingPhase =>
  phase.kind === "running" || (phase.kind === "checkpointing" && phase.request.next === "go_on");

/** Names one try of one allocation; every order and report carries it. */
export interface AttemptRef {
  readonly allocation: import("../ids.ts").AllocationId;
  readonly attempt: Attempt;
}
