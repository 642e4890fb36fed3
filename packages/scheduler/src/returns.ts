// When nodes that are busy come back.

/** When nodes that were busy before the plan come back: times, and how many are back by each. */
export interface Returns {
  readonly at: Float64Array;
  readonly count: Int32Array;
}

export interface Returning {
  /** So many more nodes, or fewer, come back at that instant; Infinity is never and not counted. */
  count(instant: number, change: 1 | -1): void;
  /** Those that are overdue are expected soon. */
  from(now: number): Returns;
  /** Should any have been back by now? */
  isOverdue(now: number): boolean;
}
