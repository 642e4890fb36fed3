// Answers of the broker: about one allocation, and for the scheduler about all.

import type { Signals } from "@lattice/scheduler";
import type { Progress } from "../../../nodes/agents/checkpoint-board.ts";
import type { Judgement } from "./decide.ts";

export interface CheckpointAnswer {
  /** `null` before the first evaluation, and for allocations without checkpoints. */
  readonly judgement: Judgement | null;
  readonly progress: Progress | null;
  /** Why it cannot be written where it runs, with the node; empty: it can. */
  readonly storageError: string;
}

export type CheckpointSignals = Pick<Signals, "checkpointMinutes" | "checkpointRates" | "cannotWrite">;
