// The checkpoints of an allocation: the newest complete one, the newest failed one, and the one in progress. A
// checkpoint is complete when every node has reported it complete, and only a complete one is restored.

import type { AllocationId, Attempt, Duration, Instant } from "../../base/ids.ts";

/** The requester: a user, the broker, or the cause that needs the nodes. */
type CheckpointCause = "user" | "broker" | "preempted" | "drained" | "walltime";

/** Why a suspended allocation is not running. */
export type SuspendCause = Extract<CheckpointCause, "preempted" | "drained" | "walltime">;

/** A checkpoint requested from the nodes. */
export interface CheckpointRequest {
  /** Number within the allocation, from 1. */
  readonly n: number;
  readonly cause: CheckpointCause;
  /** The next step when it is complete. */
  readonly next: "go_on" | "suspend";
  /** The work that needs the nodes. */
  readonly for?: AllocationId;
  /** Between SIGTERM and SIGKILL where it is stopped without a checkpoint. Default: the usual grace. */
  readonly grace?: Duration;
  /** Text for people. */
  readonly message: string;
  /** Bytes written, by node in node order; `null` for a node without an answer. */
  readonly answers: readonly (number | null)[];
}

interface TakenCheckpoint {
  readonly n: number;
  readonly attempt: Attempt;
  readonly at: Instant;
  /** Bytes of all nodes; 0 when unknown. */
  readonly bytes: number;
  /** From the request to the last node's report. */
  readonly took: Duration;
  readonly cause: CheckpointCause;
}

interface FailedCheckpoint {
  readonly n: number;
  readonly at: Instant;
  readonly message: string;
}

export interface Checkpoints {
  /** Checkpoints requested so far; the next one gets the next number. */
  readonly asked: number;
  readonly taken: number;
  readonly last?: TakenCheckpoint;
  /** Numbers of the complete checkpoints, the newest last. Default: none. */
  readonly kept?: readonly number[];
  readonly failure?: FailedCheckpoint;
}

/** The most checkpoints that one allocation keeps. */
export const MAX_KEPT_CHECKPOINTS = 32;

/** One node's result of a checkpoint, as part of its report. */
export interface CheckpointResult {
  readonly n: number;
  readonly ok: boolean;
  readonly bytes: number;
  readonly message: string;
}
