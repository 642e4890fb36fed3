// Points of the search: nine weights that sum to 1, and a backfill depth. New points are drawn at random, or made from
// good ones by moving weight between factors or by mixing two of them.

import { BALANCED_WEIGHTS, WEIGHT_PROFILES, type Weights } from "@lattice/core";
import type { Random } from "../random.ts";
import { FACTORS, inThousandths, type Profile } from "../weights/profile.ts";

export interface WeightCandidate {
  /** Its origin, for display. */
  readonly name: string;
  /** In thousandths. */
  readonly weights: Weights;
  readonly backfillDepth: number;
}

/** From one reservation to more than a site would want. */
const DEPTHS = [1, 2, 5, 10, 20, 50] as const;

/** Returns the given profile and the named ones. */
export function knownCandidates({ weights, backfillDepth }: Profile): WeightCandidate[] {
  const named = Object.entries(WEIGHT_PROFILES).map(([name, of]) => ({ name, weights: of, backfillDepth }));
  return [
    { name: "given", weights, backfillDepth },
    { name: "balanced", weights: BALANCED_WEIGHTS, backfillDepth },
    ...named,
  ];
}

export function randomCandidate(random: Random, number: number): WeightCandidate {
  // Normalised exponential draws are distributed evenly over all divisions of 1 by nine.
  const parts = FACTORS.map(() => random.exponential(1));
  return { name: `random-${number}`, weights: scaled(parts), backfillDepth: random.pick(DEPTHS) };
}

export function crossover(random: Random, parents: readonly WeightCandidate[], number: number): WeightCandidate {
  const one = random.pick(parents);
  const other = random.pick(parents);
  const mix = random.next();
  const parts = FACTORS.map((factor) => one.weights[factor] * mix + other.weights[factor] * (1 - mix) + 1);
  const from = random.whole(0, FACTORS.length - 1);
  const to = random.whole(0, FACTORS.length - 1);
  const moved = (parts[from] as number) * random.next();
  parts[from] = (parts[from] as number) - moved;
  parts[to] = (parts[to] as number) + moved;
  const backfillDepth = random.next() < 0.3 ? random.pick(DEPTHS) : one.backfillDepth;
  return { name: `crossover-${number}`, weights: scaled(parts), backfillDepth };
}

/** Equal for candidates that decide alike. */
export const keyOf = ({ weights, backfillDepth }: WeightCandidate): string =>
  [...FACTORS.map((factor) => weights[factor]), backfillDepth].join(" ");

function scaled(parts: readonly number[]): Weights {
  const sum = parts.reduce((all, part) => all + part, 0);
  return inThousandths(new Map(FACTORS.map((factor, i) => [factor, parts[i] as number])), sum);
}
