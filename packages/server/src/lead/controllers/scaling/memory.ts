// What the leader remembers of each service between two looks: since when its metric is high or low, and how often
// nothing came of it. A new leader begins with nothing, which can only make it slower.

import type { AllocationId, Instant } from "@lattice/core";

export interface Watched {
  /** On the steady clock, as all instants here. */
  readonly evaluatedAt: Instant | null;
  readonly highSince: Instant | null;
  readonly lowSince: Instant | null;
  /** Looks in a row without a metric. */
  readonly blind: number;
  /** Changes in a row that the log has refused. */
  readonly refused: number;
  readonly quietUntil: Instant | null;
}

export type ScalingMemory = ReadonlyMap<AllocationId, Watched>;

export const UNWATCHED: Watched = {
  evaluatedAt: null,
  highSince: null,
  lowSince: null,
  blind: 0,
  refused: 0,
  quietUntil: null,
};

/** Refused so often, it is left alone for two cooldowns. */
export const MOST_REFUSALS = 3;

export function afterOutcome(before: Watched, accepted: boolean, now: Instant, cooldownMs: number): Watched {
  if (accepted) return { ...before, refused: 0, highSince: null, lowSince: null };
  const refused = before.refused + 1;
  if (refused < MOST_REFUSALS) return { ...before, refused };
  return { ...before, refused: 0, quietUntil: (now + 2 * cooldownMs) as Instant };
}
