// The phases of an allocation, each with exactly its own fields, and the table of legal moves. The state diagram in the
// docs is generated from the table.

import type { Attempt, Instant, NodeId, UserName } from "../../base/ids.ts";
import type { CheckpointRequest, SuspendCause } from "../checkpoint/checkpoint.ts";

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
  /** Its turn behind other elements did not come in time, or its node was drained. */
  | "recalled"
  /** Resumed by a user after the end of its walltime. */
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
  /** For a task group: some elements failed. */
  | "element_failed";

export interface PendingPhase {
  readonly kind: "pending";
  readonly since: Instant;
  readonly cause: PendingCause;
  /** Details of the cause. Default: none. */
  readonly message?: string;
  /** The earliest time at which it is queued again; repeated failures lengthen the delay. */
  readonly backoffUntil?: Instant;
  /** The reason for the delay. Default: an earlier failure. */
  readonly backoffReason?: string;
  /** Nodes freed for it by preemption. */
  readonly preemptedNodes?: PreemptedNodes;
}

interface PreemptedNodes {
  readonly nodes: readonly NodeId[];
  readonly since: Instant;
}

/** The progress of the current attempt that one node reported. */
export interface NodeProgress {
  readonly state: "ordered" | "staging" | "running" | "completed" | "failed";
  readonly exitCode: number | null;
  readonly message: string;
}

/** An attempt that holds nodes. `progress` has exactly one entry per node, in node order. */
interface PlacedFacts {
  readonly nodes: readonly NodeId[];
  readonly placedAt: Instant;
  readonly progress: readonly NodeProgress[];
  /** The attempt of each node, where nodes were added later. Default: the record's attempt for all. */
  readonly attempts?: readonly Attempt[];
  /** The latest end that a node has reported. Default: all processes run. */
  readonly lastEndAt?: Instant;
}

interface StagingPhase extends PlacedFacts {
  readonly kind: "staging";
  /** For an element behind others: its turn comes at this time at the latest. Default: it starts at once. */
  readonly turnBy?: Instant;
}
export interface RunningPhase extends PlacedFacts {
  readonly kind: "running";
  readonly startedAt: Instant;
  /** The time from which these nodes are charged, where the set of nodes changed. Default: its start. */
  readonly countedFrom?: Instant;
}
export interface CheckpointingPhase extends PlacedFacts {
  readonly kind: "checkpointing";
  readonly startedAt: Instant;
  readonly since: Instant;
  readonly request: CheckpointRequest;
}
interface SuspendedPhase {
  readonly kind: "suspended";
  readonly since: Instant;
  readonly cause: SuspendCause;
  readonly message: string;
}

/** The facts of the last attempt that a final allocation keeps. */
interface EndedFacts {
  readonly nodes: readonly NodeId[];
  /** Missing when it was never placed, or the time is no longer known. */
  readonly placedAt?: Instant;
  /** By node, as while placed. */
  readonly attempts?: readonly Attempt[];
  readonly startedAt: Instant | null;
  readonly endedAt: Instant;
  readonly exitCode: number | null;
  readonly message: string;
}
interface CompletedPhase extends EndedFacts {
  readonly kind: "completed";
}
interface FailedPhase extends EndedFacts {
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
  running: ["checkpointing", "suspended", "pending", "completed", "failed", "cancelled"],
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

/** Whether its processes keep running in this phase. */
export const isActive = (phase: AllocationPhase): phase is RunningPhase | CheckpointingPhase =>
  phase.kind === "running" || (phase.kind === "checkpointing" && phase.request.next === "go_on");

/** Identifies one attempt; every order and report carries it. */
export interface AttemptRef {
  readonly allocation: import("../../base/ids.ts").AllocationId;
  readonly attempt: Attempt;
}
