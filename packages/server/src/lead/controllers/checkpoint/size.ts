// The size of the next checkpoint of an allocation and the time to write it: those of its last checkpoint, or estimates
// before the first. Pure.

import type { Allocation, PlacedPhase, View } from "@lattice/core";

export interface StorageRates {
  /** Total bandwidth for checkpoints. */
  readonly bytesPerSecond: number;
  /** Assumed checkpoint size per GPU before the first measurement. */
  readonly gpuMemoryBytes: number;
}

interface CheckpointSize {
  readonly sizeBytes: number;
  readonly writeSeconds: number;
  /** Whether the time is that of an earlier checkpoint. */
  readonly measured: boolean;
  /** GPUs, or nodes where there are fewer GPUs. */
  readonly devices: number;
}

export function checkpointSize(
  view: View,
  record: Allocation,
  phase: PlacedPhase,
  { bytesPerSecond, gpuMemoryBytes }: StorageRates,
): CheckpointSize {
  const last = record.checkpoints?.last;
  const gpus = phase.nodes.reduce((sum, node) => sum + (view.node(node)?.capabilities.gpuCount ?? 0), 0);
  const sizeBytes =
    last !== undefined && last.bytes > 0 ? last.bytes : estimatedSize(view, record, phase, gpus * gpuMemoryBytes);
  const writeSeconds = last === undefined ? sizeBytes / bytesPerSecond : last.took / 1000;
  return { sizeBytes, writeSeconds, measured: last !== undefined, devices: Math.max(phase.nodes.length, gpus) };
}

/** Assumed checkpoint size of a node without GPUs, as a share of its memory. */
const MEMORY_SHARE = 0.25;

function estimatedSize(view: View, { spec }: Allocation, { nodes }: PlacedPhase, gpuBytes: number): number {
  if (gpuBytes > 0) return gpuBytes;
  const requested = spec.resources.constraints.memoryBytes * nodes.length;
  if (requested > 0) return requested;
  return nodes.reduce((sum, node) => sum + (view.node(node)?.capabilities.memoryBytes ?? 0) * MEMORY_SHARE, 0);
}
