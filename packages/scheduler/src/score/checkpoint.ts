// f8, how cheaply an allocation could be preempted, in [0, 1]: 1 / (1 + minutes a checkpoint takes); 0 without
// checkpoints. The minutes of a pending allocation are those of its last checkpoint or, before its first, the requested
// memory over the write rate.

import type { CheckpointInput } from "../input/cycle-input.ts";
import type { CheckpointRates } from "../input/signals.ts";

export const checkpoint = (minutes: number | undefined): number =>
  minutes === undefined || Number.isNaN(minutes) ? 0 : 1 / (1 + Math.max(0, minutes));

/** The rates without a signal. */
const USUAL: CheckpointRates = { bytesPerSecond: 10e9, gpuMemoryBytes: 80e9 };
/** Bytes written for a node without a memory request. */
const BYTES_PER_NODE = 16e9;
const MINUTE_MS = 60_000;

export function expectedMinutes(input: CheckpointInput | undefined, rates = USUAL): number | undefined {
  if (input === undefined) return undefined;
  if (input.lastDuration !== null) return input.lastDuration / MINUTE_MS;
  return sizeOf(input, rates) / rates.bytesPerSecond / 60;
}

function sizeOf({ gpus, memoryBytes, nodes }: CheckpointInput, { gpuMemoryBytes }: CheckpointRates): number {
  if (gpus > 0) return gpus * gpuMemoryBytes;
  return memoryBytes > 0 ? memoryBytes : nodes * BYTES_PER_NODE;
}
