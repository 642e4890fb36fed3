// When nodes that are busy come back: by number, and which ones.

/** When nodes that were busy before the plan come back: times, and how many are back by each. */
export interface Returns {
  readonly at: readonly number[];
  readonly count: readonly number[];
}

export interface Returning {
  /** So many more nodes, or fewer, come back at that instant; Infinity is never and not counted. */
  count(instant: number, change: 1 | -1): void;
  /** Those that are overdue are expected soon. */
  from(now: number): Returns;
  /** Should any have been back by now? */
  isOverdue(now: number): boolean;
}

/** Busy nodes that come back at all, earliest first, then by number; with how far `bits` has got. */
export interface ComingBack {
  readonly returns: Returns;
  readonly order: Int32Array;
  /** Free before the plan, and back by the instant asked about last. */
  readonly bits: Uint32Array;
  /** So many of the order are in. */
  known: number;
}

/** How many are back by then. */
export function countBy({ at, count }: Returns, instant: number): number {
  let low = 0;
  let high = at.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((at[middle] as number) <= instant) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? 0 : (count[low - 1] as number);
}

export function returnsOf(availableFrom: Float64Array, now: number): Returns {
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
