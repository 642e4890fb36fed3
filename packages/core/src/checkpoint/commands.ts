// The commands about checkpoints, by users, by controllers, and by the server as a backstop.

import type { AllocationId, Attempt } from "../ids.ts";
import type { Origin } from "../origin.ts";

/** A user asks for a checkpoint of a running allocation. */
export interface AskCheckpointCommand {
  readonly kind: "allocation.checkpoint";
  readonly origin: Origin;
  readonly id: AllocationId;
}

/** A controller asks: the broker, because it pays, or a drain, after which it is suspended. */
export interface AttemptCheckpointCommand {
  readonly kind: "attempt.checkpoint";
  readonly allocation: AllocationId;
  readonly attempt: Attempt;
  readonly cause: "broker" | "drained";
  readonly message: string;
}

/** The server's backstop: a checkpoint that should long be over is given up. */
export interface ExpireCheckpointCommand {
  readonly kind: "checkpoint.expire";
  readonly allocation: AllocationId;
  readonly attempt: Attempt;
  readonly n: number;
}

/** Queues an allocation again whose walltime was over when its checkpoint was complete. */
export interface ResumeCommand {
  readonly kind: "allocation.resume";
  readonly origin: Origin;
  readonly id: AllocationId;
}

/** An agent has taken it on to remove what is left of them, or nobody is to. */
export interface ClearedCommand {
  readonly kind: "checkpoints.cleared";
  readonly allocations: readonly AllocationId[];
}

export type CheckpointCommand =
  | AskCheckpointCommand
  | AttemptCheckpointCommand
  | ExpireCheckpointCommand
  | ResumeCommand
  | ClearedCommand;
