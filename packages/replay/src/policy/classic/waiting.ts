// The waiting jobs in backfill order: by queue order, or by requested time and then queue order. Size and request are
// stored next to each row, so that a pass reads memory in order. A started job stays in the list until the next pass
// drops it.

interface Waiting {
  rows: Int32Array;
  sizes: Int32Array;
  requests: Float64Array;
  length: number;
}

const FIRST_CAPACITY = 4096;

export const createWaiting = (): Waiting => ({
  rows: new Int32Array(FIRST_CAPACITY),
  sizes: new Int32Array(FIRST_CAPACITY),
  requests: new Float64Array(FIRST_CAPACITY),
  length: 0,
});

export function addLast(waiting: Waiting, row: number, size: number, request: number): void {
  if (waiting.length === waiting.rows.length) grow(waiting);
  put(waiting, waiting.length, row, size, request);
  waiting.length += 1;
}

/** Rows are added in queue order, so a row goes behind all rows with the same request or a smaller one. */
export function addByRequest(waiting: Waiting, row: number, size: number, request: number): void {
  if (waiting.length === waiting.rows.length) grow(waiting);
  const place = placeAfter(waiting, request);
  moveTail(waiting, place, place + 1);
  put(waiting, place, row, size, request);
  waiting.length += 1;
}

/** Moves the rows from `from` on to start at `to`; the caller sets the length. */
export function moveTail({ rows, sizes, requests, length }: Waiting, from: number, to: number): void {
  rows.copyWithin(to, from, length);
  sizes.copyWithin(to, from, length);
  requests.copyWithin(to, from, length);
}

export function put(waiting: Waiting, place: number, row: number, size: number, request: number): void {
  waiting.rows[place] = row;
  waiting.sizes[place] = size;
  waiting.requests[place] = request;
}

function placeAfter({ requests, length }: Waiting, request: number): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((requests[middle] as number) <= request) low = middle + 1;
    else high = middle;
  }
  return low;
}

function grow(waiting: Waiting): void {
  const { rows, sizes, requests } = waiting;
  const capacity = rows.length * 2;
  waiting.rows = new Int32Array(capacity);
  waiting.sizes = new Int32Array(capacity);
  waiting.requests = new Float64Array(capacity);
  waiting.rows.set(rows);
  waiting.sizes.set(sizes);
  waiting.requests.set(requests);
}
