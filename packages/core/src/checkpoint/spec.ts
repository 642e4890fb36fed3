// How an allocation can be checkpointed: by what means its program is asked, who decides when, and how
// long it may take. Absent from a specification: it takes no checkpoints.

import { type Duration, duration } from "../ids.ts";

/** How the program is asked: a signal, a flag in shared memory, a call to it, or not at all. */
export const CHECKPOINT_MODES = ["signal", "shmem", "grpc", "dmtcp"] as const;
export type CheckpointMode = (typeof CHECKPOINT_MODES)[number];

export interface CheckpointSpec {
  readonly mode: CheckpointMode;
  /** Asked when it pays, by the broker. False: only before it is stopped, and when somebody asks. */
  readonly auto: boolean;
  /** Where the program listens, for grpc; 0: it says so itself. */
  readonly port: number;
  /** Without an answer for so long it is given up; half as long again for one that is seen to go on. */
  readonly timeout: Duration;
  /** By so much the program may put it off. */
  readonly maxDeferral: Duration;
}

export const DEFAULT_CHECKPOINT_TIMEOUT = duration(600_000);
export const DEFAULT_MAX_DEFERRAL = duration(300_000);
/** A checkpoint that takes longer than a day is a mistake in the unit. */
export const MAX_CHECKPOINT_SPAN = duration(86_400_000);
