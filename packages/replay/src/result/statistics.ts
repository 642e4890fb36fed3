// The statistics of a replay.

/** Returns 0 for no values. */
export function mean(values: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i += 1) sum += values[i] as number;
  return values.length === 0 ? 0 : sum / values.length;
}

/** Nearest rank: the least value that this many per cent do not exceed. */
export const percentile = (sorted: Float64Array, percent: number): number =>
  sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? 0;

/** Jain's index: 1 when all are equal, 1/n when one gets everything; 1 for no values. */
export function jain(values: readonly number[]): number {
  let sum = 0;
  let squares = 0;
  for (const value of values) {
    sum += value;
    squares += value * value;
  }
  return squares === 0 ? 1 : (sum * sum) / (values.length * squares);
}
