// The leader's memory of each service between evaluations: since when its metric is high or low, and how often reading
// or scaling has failed. A new leader starts without it, which only delays scaling.

import { type AllocationId, type Instant, instant } from "@lattice/core";

export interface Watched {
  /** Monotonic, as all instants here. */
  readonly evaluatedAt: Instant | null;
  readonly highSince: Instant | null;
  readonly lowSince: Instant | null;
  /** Consecutive evaluations without a metric. */
  readonly missing: number;
  /** Consecutive rejected changes. */
  readonly rejected: number;
  readonly quietUntil: Instant | null;
}

export type ScalingMemory = ReadonlyMap<AllocationId, Watched>;

export const UNWATCHED: Watched = {
  evaluatedAt: null,
  highSince: null,
  lowSince: null,
  missing: 0,
  rejected: 0,
  quietUntil: null,
};

/** After this many consecutive rejections the service is not scaled for two cooldowns. */
export const MAX_REJECTIONS = 3;

export function afterOutcome(before: Watched, accepted: boolean, now: Instant, cooldownMs: number): Watched {
  if (accepted) return { ...before, rejected: 0, highSince: null, lowSince: null };
  const rejected = before.rejected + 1;
  if (rejected < MAX_REJECTIONS) return { ...before, rejected };
  return { ...before, rejected: 0, quietUntil: instant(now + 2 * cooldownMs) };
}
