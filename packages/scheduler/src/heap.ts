// Numbers drawn in order from a binary heap: making one costs a look at each, drawing the first few of many
// costs little more.

export interface Heap {
  /** The first in order; -1 when none is left. */
  take(): number;
  /** Those left, in no order. */
  left(): Uint32Array;
}

/** The array becomes the heap's own. */
export function heapOf(items: Uint32Array, compare: (a: number, b: number) => number): Heap {
  let size = items.length;
  const siftDown = (start: number): void => {
    const moving = items[start] as number;
    let at = start;
    for (let child = 2 * at + 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && compare(items[child + 1] as number, items[child] as number) < 0) child += 1;
      const smaller = items[child] as number;
      if (compare(smaller, moving) >= 0) break;
      items[at] = smaller;
      at = child;
    }
    items[at] = moving;
  };
  for (let at = (size >> 1) - 1; at >= 0; at -= 1) siftDown(at);
  return {
    take() {
      if (size === 0) return -1;
      const first = items[0] as number;
      size -= 1;
      items[0] = items[size] as number;
      if (size > 1) siftDown(0);
      return first;
    },
    left: () => items.subarray(0, size),
  };
}
