// A measured figure with its optional target.

export interface Figure {
  readonly metric: string;
  readonly value: number;
  readonly unit: string;
  /** For example ">= 2000" or "< 50". */
  readonly target: string | null;
  /** `null` without a target. */
  readonly pass: boolean | null;
}

export type Progress = (text: string) => void;
export type Bench = (log: Progress) => Promise<readonly Figure[]>;

export const atLeast = (metric: string, value: number, unit: string, target: number): Figure => ({
  metric,
  value: rounded(value),
  unit,
  target: `>= ${target}`,
  pass: value >= target,
});

export const below = (metric: string, value: number, unit: string, target: number): Figure => ({
  metric,
  value: rounded(value),
  unit,
  target: `< ${target}`,
  pass: value < target,
});

export const withoutTarget = (metric: string, value: number, unit: string): Figure => ({
  metric,
  value: rounded(value),
  unit,
  target: null,
  pass: null,
});

/** Returns a quantile of unsorted values; `share` is between 0 and 1. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

const rounded = (value: number): number => Number(value.toPrecision(4));
