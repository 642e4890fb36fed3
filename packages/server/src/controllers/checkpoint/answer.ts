// What the broker tells those who ask: about one allocation, and for the scheduler about all.

import type { Signals } from "@lattice/scheduler";
import type { Progress } from "../../checkpoint/board.ts";
import type { Judgement } from "./decide.ts";

export interface CheckpointAnswer {
  /** Null: it was not looked at yet, or takes no checkpoints. */
  readonly judgement: Judgement | null;
  readonly progress: Progress | null;
  /** Why it cannot be written where it runs, with the node; empty: it can. */
  readonly storageError: string;
}

export type CheckpointSignals = Pick<Signals, "checkpointMinutes" | "checkpointRates" | "cannotWrite">;
