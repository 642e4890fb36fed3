// The checkpoint settings of a spec: the method, the initiator and the timeout. Absent: no checkpoints.

import { type Duration, duration } from "../../base/ids.ts";

/** How the program is notified: a signal, a flag in shared memory, a call, or not at all. */
export const CHECKPOINT_MODES = ["signal", "shmem", "grpc", "dmtcp"] as const;
export type CheckpointMode = (typeof CHECKPOINT_MODES)[number];

export interface CheckpointSpec {
  readonly mode: CheckpointMode;
  /** Requested by the broker when it pays. `false`: only before a stop, and on a user's request. */
  readonly auto: boolean;
  /** The port on which the program listens, for grpc; 0 when the program announces it. */
  readonly port: number;
  /** A checkpoint without an answer fails after this time, or after 1.5 times as long while it makes progress. */
  readonly timeout: Duration;
  /** The longest delay that the program may request. */
  readonly maxDeferral: Duration;
}

export const DEFAULT_CHECKPOINT_TIMEOUT = duration(600_000);
export const DEFAULT_MAX_DEFERRAL = duration(300_000);
/** A checkpoint that takes longer than a day is a mistake in the unit. */
export const MAX_CHECKPOINT_SPAN = duration(86_400_000);
