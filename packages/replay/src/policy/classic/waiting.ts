// The waiting jobs in the order in which backfill goes through them: by queue order, or by requested
// time and then queue order. Size and request stand beside each row, so that a walk reads memory in
// order. A job that has started stays in the list until the next walk drops it.

export interface Waiting {
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

/** Rows are added in queue order, so a row goes behind all that asked for no more. */
export function addByRequest(waiting: Waiting, row: number, size: number, request: number): void {
  if (waiting.length === waiting.rows.length) grow(waiting);
  const place = placeAfter(waiting, request);
  moveTail(waiting, place, place + 1);
  put(waiting, place, row, size, request);
  waiting.length += 1;
}

/** Moves what begins at `from` to begin at `to`; the length is the caller's to set. */
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
