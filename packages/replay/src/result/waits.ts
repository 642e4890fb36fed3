// The distribution of waits over common bounds.

export interface WaitBin {
  readonly label: string;
  readonly jobs: number;
}

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

const BOUNDS: readonly (readonly [label: string, upTo: number])[] = [
  ["none", 0],
  ["1 min", MINUTE],
  ["5 min", 5 * MINUTE],
  ["15 min", 15 * MINUTE],
  ["1 h", HOUR],
  ["4 h", 4 * HOUR],
  ["12 h", 12 * HOUR],
  ["1 d", DAY],
  ["3 d", 3 * DAY],
  ["more", Number.POSITIVE_INFINITY],
];

/** `sorted` is ascending; each bin counts the waits above the previous bound and up to its own. */
export function waitBins(sorted: Float64Array): WaitBin[] {
  let from = 0;
  return BOUNDS.map(([label, upTo]) => {
    const first = from;
    while (from < sorted.length && (sorted[from] as number) <= upTo) from += 1;
    return { label, jobs: from - first };
  });
}
