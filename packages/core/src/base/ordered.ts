// An ordered set in chunks of bounded length: appending is a push, any other change moves at most one chunk. A plain
// sorted array would move 100,000 entries when a requeued allocation returns to its position; a balanced tree would be
// slower to iterate, which every scheduling cycle does. It must not change during iteration.

export interface Ordered<T> extends Iterable<T> {
  readonly size: number;
  /** Adds an item; no effect when it is present. */
  add(item: T): void;
  delete(item: T): void;
}

/** Chunks are filled up to this length by appending, and split at twice this length by inserting. */
const CHUNK = 512;

export function createOrdered<T>(compare: (a: T, b: T) => number): Ordered<T> {
  const chunks: T[][] = [];
  let size = 0;

  function append(item: T): boolean {
    const last = chunks.at(-1);
    const newest = last?.at(-1);
    if (last === undefined || newest === undefined) {
      chunks.push([item]);
      return true;
    }
    if (compare(newest, item) >= 0) return false;
    if (last.length >= CHUNK) chunks.push([item]);
    else last.push(item);
    return true;
  }

  /** The first chunk whose last item is not before `item`. */
  function chunkOf(item: T): number {
    let low = 0;
    let high = chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const newest = chunks[middle]?.at(-1);
      if (newest !== undefined && compare(newest, item) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  return {
    get size() {
      return size;
    },
    add(item) {
      if (append(item)) {
        size += 1;
        return;
      }
      const at = chunkOf(item);
      const chunk = chunks[at];
      if (chunk === undefined) return;
      const place = lowerBound(chunk, item, compare);
      const there = chunk[place];
      if (there !== undefined && compare(there, item) === 0) return;
      chunk.splice(place, 0, item);
      if (chunk.length > 2 * CHUNK) chunks.splice(at + 1, 0, chunk.splice(CHUNK));
      size += 1;
    },
    delete(item) {
      const at = chunkOf(item);
      const chunk = chunks[at];
      if (chunk === undefined) return;
      const place = lowerBound(chunk, item, compare);
      const there = chunk[place];
      if (there === undefined || compare(there, item) !== 0) return;
      chunk.splice(place, 1);
      if (chunk.length === 0) chunks.splice(at, 1);
      size -= 1;
    },
    *[Symbol.iterator]() {
      // Much faster than `yield* chunk`.
      for (const chunk of chunks) for (const item of chunk) yield item;
    },
  };
}

/** A value per item, in the same order. */
export function* lookUp<K, V>(ids: Iterable<K>, find: (id: K) => V): Iterable<V> {
  for (const id of ids) yield find(id);
}

function lowerBound<T>(chunk: readonly T[], item: T, compare: (a: T, b: T) => number): number {
  let low = 0;
  let high = chunk.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const there = chunk[middle];
    if (there !== undefined && compare(there, item) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
