// What is known of an allocation's checkpoints: the newest that is complete, the newest that was not to be
// had, and the one that is being taken. A checkpoint is complete when every node has said so, and only a
// complete one is gone on from.

import type { AllocationId, Attempt, Duration, Instant } from "../ids.ts";

/** Who wants it: a user, the broker, or whoever needs the nodes. */
export type CheckpointCause = "user" | "broker" | "preempted" | "drained" | "walltime";

/** Why a suspended allocation is not running. */
export type SuspendCause = Extract<CheckpointCause, "preempted" | "drained" | "walltime">;

/** A checkpoint that the nodes have been asked for. */
export interface CheckpointRequest {
  /** Of this allocation, from 1. */
  readonly n: number;
  readonly cause: CheckpointCause;
  /** What follows when it is complete. */
  readonly next: "go_on" | "suspend";
  /** For whom the nodes are wanted. */
  readonly for?: AllocationId;
  /** Between SIGTERM and SIGKILL where it has to be stopped without; absent: the usual. */
  readonly grace?: Duration;
  /** In words. */
  readonly message: string;
  /** Bytes written, by node in node order; null: not yet answered. */
  readonly answers: readonly (number | null)[];
}

export interface TakenCheckpoint {
  readonly n: number;
  readonly attempt: Attempt;
  readonly at: Instant;
  /** Of all nodes; 0 where the programs did not say and nothing was found. */
  readonly bytes: number;
  /** From the request to the last node's word. */
  readonly took: Duration;
  readonly cause: CheckpointCause;
}

export interface FailedCheckpoint {
  readonly n: number;
  readonly at: Instant;
  readonly message: string;
}

export interface Checkpoints {
  /** So many were asked for; the next one gets the next number. */
  readonly asked: number;
  readonly taken: number;
  readonly last?: TakenCheckpoint;
  /** Numbers of those that are complete, the newest last. Absent: of an earlier version, or none. */
  readonly kept?: readonly number[];
  readonly failure?: FailedCheckpoint;
}

/** Nobody keeps more than so many. */
export const MAX_KEPT_CHECKPOINTS = 32;

/** One node's word on a checkpoint, as part of its report. */
export interface CheckpointWord {
  readonly n: number;
  readonly ok: boolean;
  readonly bytes: number;
  readonly message: string;
}
