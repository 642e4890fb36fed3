// How much, from how fast: the sum of a rate that was measured from the beginning of a job on. Where it was not, because the
// job is older than what is remembered or the one who remembered it has changed, there is no sum to tell.

import type { Allocation, MetricSeries } from "@lattice/sdk";

export interface Sum {
  readonly node: string;
  readonly sum: number;
}

/** Agents measure every half minute; with a longer gap one was missed. */
const LONGEST_GAP_MS = 50_000;

/** By node, each multiplied by what `factor` says of it; only those that are known. */
export function sumsOf(
  { started_at }: Allocation,
  series: readonly MetricSeries[],
  factor: (node: string) => number = () => 1,
): readonly Sum[] {
  if (started_at === undefined) return [];
  return series.flatMap(({ node = "", points = [] }) => {
    const by = factor(node);
    let before = Date.parse(started_at);
    let sum = 0;
    for (const { at, value = 0 } of points) {
      const now = Date.parse(at ?? "");
      if (!(now - before <= LONGEST_GAP_MS)) return [];
      sum += (Math.max(0, now - before) / 1000) * value * by;
      before = Math.max(before, now);
    }
    return points.length === 0 || by === 0 ? [] : [{ node, sum }];
  });
}

export function greatest(sums: readonly Sum[]): Sum | null {
  let found: Sum | null = null;
  for (const one of sums) if (found === null || one.sum > found.sum) found = one;
  return found;
}

export function least(sums: readonly Sum[]): Sum | null {
  let found: Sum | null = null;
  for (const one of sums) if (found === null || one.sum < found.sum) found = one;
  return found;
}

export const meanSum = (sums: readonly Sum[]): number | undefined =>
  sums.length === 0 ? undefined : sums.reduce((all, { sum }) => all + sum, 0) / sums.length;
