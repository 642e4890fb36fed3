// A binary heap of numbers. Building it visits each number once; the first few of many cost little more.

export interface Heap {
  /** Removes and returns the first in order; -1 when empty. */
  pop(): number;
  /** Returns the remaining numbers in no particular order. */
  remaining(): Uint32Array;
}

/** Takes ownership of the array. */
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
    pop() {
      if (size === 0) return -1;
      const first = items[0] as number;
      size -= 1;
      items[0] = items[size] as number;
      if (size > 1) siftDown(0);
      return first;
    },
    remaining: () => items.subarray(0, size),
  };
}
