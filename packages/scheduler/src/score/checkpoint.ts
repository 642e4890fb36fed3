// f8, how cheaply it could be preempted, in [0, 1]: 1 / (1 + minutes a checkpoint takes). An allocation
// that takes no checkpoints cannot be preempted cheaply at all. Of one that waits the minutes are those of its last
// checkpoint or, before its first, what it asks for over what storage takes.

import type { CheckpointInput } from "../cycle-types.ts";
import type { CheckpointRates } from "../signals.ts";

export const checkpoint = (minutes: number | undefined): number =>
  minutes === undefined || Number.isNaN(minutes) ? 0 : 1 / (1 + Math.max(0, minutes));

/** Where nobody says otherwise. */
const USUAL: CheckpointRates = { bytesPerSecond: 10e9, gpuMemoryBytes: 80e9 };
/** Written of a node that is asked for without a word about memory. */
const BYTES_PER_NODE = 16e9;
const MINUTE_MS = 60_000;

export function expectedMinutes(input: CheckpointInput | undefined, rates = USUAL): number | undefined {
  if (input === undefined) return undefined;
  if (input.took !== null) return input.took / MINUTE_MS;
  return sizeOf(input, rates) / rates.bytesPerSecond / 60;
}

function sizeOf({ gpus, memoryBytes, nodes }: CheckpointInput, { gpuMemoryBytes }: CheckpointRates): number {
  if (gpus > 0) return gpus * gpuMemoryBytes;
  return memoryBytes > 0 ? memoryBytes : nodes * BYTES_PER_NODE;
}
