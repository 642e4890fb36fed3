// Facts besides the replicated state: prices, power, storage, congestion, and how well allocations use their nodes.
// Each is absent until it is measured.

import type { AllocationId, GroupId } from "@lattice/core";

export interface Signals {
  /** The price of electricity now, between 0 (cheapest known) and 1 (highest). */
  readonly energyPrice?: number;
  /** Watts: the limit, and the current draw. */
  readonly power?: Budget;
  /**
   * Megabytes per second of storage: the limit, and the current use; `null` when the requests of placed allocations
   * count as use.
   */
  readonly storage?: { readonly limit: number; readonly used: number | null };
  /** By group, between 0 (quiet) and 1. */
  readonly congestion?: ReadonlyMap<GroupId, number>;
  /** By allocation, the part of its resources used in earlier attempts, between 0 and 1. */
  readonly efficiency?: ReadonlyMap<AllocationId, number>;
  /** By allocation, the part of its input on the hot tier, between 0 and 1. */
  readonly dataReady?: ReadonlyMap<AllocationId, number>;
  /** By allocation, minutes that a checkpoint takes. Absent: derived from its request, if it takes any. */
  readonly checkpointMinutes?: ReadonlyMap<AllocationId, number>;
  /** The rates from which a checkpoint is estimated. */
  readonly checkpointRates?: CheckpointRates;
  /** Allocations whose checkpoints cannot be written, since their storage is unavailable. Default: none. */
  readonly cannotWrite?: ReadonlySet<AllocationId>;
}

export interface CheckpointRates {
  /** The write rate of the storage. */
  readonly bytesPerSecond: number;
  /** The bytes written for each GPU. */
  readonly gpuMemoryBytes: number;
}

interface Budget {
  readonly limit: number;
  readonly used: number;
}
