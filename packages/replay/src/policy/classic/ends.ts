// The ends of running jobs: a binary heap of rows in a typed array, ordered by end time. The order among equal times
// does not matter, since all ends of an instant are taken before any decision. Plain functions over one record: they
// are compiled once, however many replays run.

interface Ends {
  /** End times by row, written before the row is added. */
  readonly end: Float64Array;
  readonly rows: Int32Array;
  size: number;
}

export const createEnds = (end: Float64Array, capacity: number): Ends => ({
  end,
  rows: new Int32Array(capacity),
  size: 0,
});

/** Returns Infinity when nothing runs. */
export function nextEnd({ end, rows, size }: Ends): number {
  return size === 0 ? Number.POSITIVE_INFINITY : (end[rows[0] as number] as number);
}

export function addEnd(ends: Ends, row: number): void {
  const { end, rows } = ends;
  const time = end[row] as number;
  let hole = ends.size;
  ends.size += 1;
  while (hole > 0) {
    const parent = (hole - 1) >> 1;
    const other = rows[parent] as number;
    if ((end[other] as number) <= time) break;
    rows[hole] = other;
    hole = parent;
  }
  rows[hole] = row;
}

/** Removes and returns the row that ends first; the heap must not be empty. */
export function takeEnd(ends: Ends): number {
  const { end, rows } = ends;
  const taken = rows[0] as number;
  ends.size -= 1;
  const size = ends.size;
  const row = rows[size] as number;
  const time = end[row] as number;
  let hole = 0;
  for (let child = 1; child < size; child = 2 * hole + 1) {
    if (child + 1 < size && (end[rows[child + 1] as number] as number) < (end[rows[child] as number] as number)) {
      child += 1;
    }
    if ((end[rows[child] as number] as number) >= time) break;
    rows[hole] = rows[child] as number;
    hole = child;
  }
  rows[hole] = row;
  return taken;
}
