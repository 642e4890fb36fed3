// Answers of the broker: its judgement of one allocation, and signals for the scheduler.

import type { Signals } from "@lattice/scheduler";
import type { Progress } from "../../../nodes/agents/checkpoint-board.ts";
import type { Judgement } from "./decide.ts";

export interface CheckpointAnswer {
  /** `null` before the first evaluation, and for allocations without checkpoints. */
  readonly judgement: Judgement | null;
  readonly progress: Progress | null;
  /** The storage problem and its node; empty when checkpoints can be written. */
  readonly storageError: string;
}

export type CheckpointSignals = Pick<Signals, "checkpointMinutes" | "checkpointRates" | "cannotWrite">;
