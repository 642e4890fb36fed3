// Finds allocations that are asked to save and stop because their walltime is nearly over. The time left is measured on
// the monotonic clock from when this leader first saw the attempt: a wall-clock jump suspends nothing. Pure.

import {
  type Allocation,
  type AttemptCheckpointCommand,
  between,
  type CheckpointingPhase,
  type Instant,
  type NodeId,
  type RunningPhase,
  type View,
} from "@lattice/core";
import { walltimeLead } from "@lattice/scheduler";
import { checkpointSize, type StorageRates } from "./size.ts";

interface SeenAttempt {
  /** Monotonic. */
  readonly at: Instant;
  /** Run time at that moment, in milliseconds. */
  readonly ran: number;
}

/** By "allocation.attempt". */
export type SeenAttempts = ReadonlyMap<string, SeenAttempt>;

interface WalltimeInputs {
  /** The time of day of this leader, as in the log. */
  readonly now: Instant;
  readonly monotonic: Instant;
  /** As returned by the previous run. */
  readonly seen: SeenAttempts;
  readonly rates: StorageRates;
  /** Returns why a node cannot write checkpoints; empty when it can. */
  readonly storageError: (node: NodeId) => string;
}

interface WalltimeDecision {
  readonly requests: readonly AttemptCheckpointCommand[];
  readonly seen: SeenAttempts;
}

export function decideBeforeWalltime(view: View, inputs: WalltimeInputs): WalltimeDecision {
  const requests: AttemptCheckpointCommand[] = [];
  const seen = new Map<string, SeenAttempt>();
  for (const record of view.placed()) {
    const { id, attempt, phase, spec } = record;
    const { walltime } = spec.lifecycle;
    if (spec.checkpoint === undefined || walltime === null || spec.session === true) continue;
    if (phase.kind !== "running" && phase.kind !== "checkpointing") continue;
    const key = `${id}.${attempt}`;
    const first = inputs.seen.get(key) ?? { at: inputs.monotonic, ran: Math.max(0, inputs.now - phase.startedAt) };
    seen.set(key, first);
    if (phase.kind === "checkpointing" && phase.request.next === "suspend") continue;
    const left = walltime - first.ran - between(first.at, inputs.monotonic);
    if (left <= 0 || !isDue(view, record, phase, { ...inputs, left, walltime })) continue;
    const message = "its walltime is nearly over";
    requests.push({ kind: "attempt.checkpoint", allocation: id, attempt, cause: "walltime", message });
  }
  return { requests, seen };
}

interface TimeLeft extends Pick<WalltimeInputs, "rates" | "storageError"> {
  readonly left: number;
  readonly walltime: number;
}

/** A program that has failed to save within this time is not asked again. */
function isDue(
  view: View,
  record: Allocation,
  phase: RunningPhase | CheckpointingPhase,
  { left, walltime, rates, storageError }: TimeLeft,
): boolean {
  const { writeSeconds, measured } = checkpointSize(view, record, phase, rates);
  const leadMs = walltimeLead({ walltimeSeconds: walltime / 1000, writeSeconds, measured }) * 1000;
  if (left > leadMs) return false;
  const failedAt = record.checkpoints?.failure?.at;
  if (failedAt !== undefined && failedAt >= phase.startedAt + walltime - leadMs) return false;
  return phase.nodes.every((node) => storageError(node) === "");
}
