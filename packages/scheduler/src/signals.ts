// What may be known besides the replicated state: prices, power, storage, congestion, and how well
// allocations use what they have. Each is absent until somebody measures it.

import type { AllocationId, GroupId } from "@lattice/core";

export interface Signals {
  /** Of electricity now, between 0 (cheapest known) and 1 (dearest). */
  readonly energyPrice?: number;
  /** Watts that may be drawn in all, and are drawn now. */
  readonly power?: Budget;
  /** Megabytes per second of storage: in all, and in use now; null: as much as placed allocations have asked for. */
  readonly storage?: { readonly limit: number; readonly used: number | null };
  /** Per group, between 0 (quiet) and 1. */
  readonly congestion?: ReadonlyMap<GroupId, number>;
  /** Per allocation, share of what it had that it used in earlier attempts, between 0 and 1. */
  readonly efficiency?: ReadonlyMap<AllocationId, number>;
  /** Per allocation, share of its input that is on the hot tier, between 0 and 1. */
  readonly dataReady?: ReadonlyMap<AllocationId, number>;
  /** Per allocation, minutes that a checkpoint takes; absent: as its request lets expect, if it takes any. */
  readonly checkpointMinutes?: ReadonlyMap<AllocationId, number>;
  /** What an expected checkpoint is reckoned with. */
  readonly checkpointRates?: CheckpointRates;
  /** Allocations whose checkpoints cannot be written: their storage is away. Absent: none. */
  readonly cannotWrite?: ReadonlySet<AllocationId>;
}

export interface CheckpointRates {
  /** What storage takes. */
  readonly bytesPerSecond: number;
  /** Written of each GPU. */
  readonly gpuMemoryBytes: number;
}

export interface Budget {
  readonly limit: number;
  readonly used: number;
}
