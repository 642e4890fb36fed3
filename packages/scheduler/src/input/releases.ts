// When busy nodes are released: counts by instant.

/** The releases of nodes that were busy before the plan: instants, and how many nodes are released by each. */
export interface ReleaseTimes {
  readonly at: readonly number[];
  readonly count: readonly number[];
}

export interface ReleaseTally {
  /** Adds or removes one node that is released at this instant; Infinity is not counted. */
  add(instant: number, change: 1 | -1): void;
  /** Overdue nodes are expected soon. */
  timesFrom(now: number): ReleaseTimes;
  /** Whether a node should have been released by now. */
  isOverdue(now: number): boolean;
}

/** Returns how many nodes are released by then. */
export function releasedBy({ at, count }: ReleaseTimes, instant: number): number {
  let low = 0;
  let high = at.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((at[middle] as number) <= instant) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? 0 : (count[low - 1] as number);
}

export function releaseTimesOf(availableFrom: Float64Array, now: number): ReleaseTimes {
  const byInstant = new Map<number, number>();
  for (let node = 0; node < availableFrom.length; node += 1) {
    const at = availableFrom[node] as number;
    if (at > now && at !== Number.POSITIVE_INFINITY) byInstant.set(at, (byInstant.get(at) ?? 0) + 1);
  }
  const at = [...byInstant.keys()].sort((a, b) => a - b);
  const count: number[] = [];
  let sum = 0;
  for (const instant of at) {
    sum += byInstant.get(instant) ?? 0;
    count.push(sum);
  }
  return { at, count };
}
