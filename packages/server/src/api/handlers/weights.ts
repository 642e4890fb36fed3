// Normalises the weights of a vCluster to thousandths that sum to one thousand, so that thresholds of the scheduler mean
// the same in every vCluster. A warning says how the requested weights were changed. All zero is kept: the queue is then
// in submission order.

import type { Factor, Weights } from "@lattice/core";

const WHOLE = 1000;

interface NormalisedWeights {
  readonly weights: Weights;
  /** `null` when the weights needed no change. */
  readonly warning: string | null;
}

/** Leaves invalid weights unchanged; `apply` rejects them. */
export function normalised(weights: Weights): NormalisedWeights {
  const entries = Object.entries(weights) as [Factor, number][];
  const sum = entries.reduce((total, [, weight]) => total + weight, 0);
  const odd = entries.some(([, weight]) => !Number.isInteger(weight) || weight < 0);
  if (odd || sum === WHOLE || sum === 0) return { weights, warning: null };
  const shares = entries.map(([factor, weight]) => {
    const exact = (weight * WHOLE) / sum;
    return { factor, least: Math.floor(exact), rest: exact - Math.floor(exact) };
  });
  // The rounding remainder goes to the weights that lost most; ties in the order of the factors.
  let left = WHOLE - shares.reduce((total, { least }) => total + least, 0);
  const order = [...shares].sort((a, b) => b.rest - a.rest || shares.indexOf(a) - shares.indexOf(b));
  const kept = { ...weights };
  for (const { factor, least } of order) {
    kept[factor] = least + (left > 0 ? 1 : 0);
    left -= 1;
  }
  return { weights: kept, warning: `the weights sum to ${sum / WHOLE} and were scaled so that they sum to 1` };
}
