// Future events by time: a binary heap of (time, job number). Equal times come out by number, so that
// the order is total.

export interface EventTimes {
  readonly size: number;
  /** Infinity when empty. */
  nextTime(): number;
  add(time: number, job: number): void;
  /** The jobs of all events up to and including this time, in order. */
  takeUntil(time: number): number[];
}

export function createEventTimes(): EventTimes {
  const heap: { readonly time: number; readonly job: number }[] = [];
  const goesFirst = (a: number, b: number): boolean => {
    const one = heap[a];
    const other = heap[b];
    if (one === undefined || other === undefined) return false;
    return one.time < other.time || (one.time === other.time && one.job < other.job);
  };
  const swap = (a: number, b: number): void => {
    const one = heap[a];
    const other = heap[b];
    if (one === undefined || other === undefined) return;
    heap[a] = other;
    heap[b] = one;
  };
  const up = (from: number): void => {
    for (let at = from; at > 0 && goesFirst(at, (at - 1) >> 1); at = (at - 1) >> 1) swap(at, (at - 1) >> 1);
  };
  const down = (): void => {
    let at = 0;
    for (;;) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2]) if (goesFirst(child, least)) least = child;
      if (least === at) return;
      swap(at, least);
      at = least;
    }
  };
  return {
    get size() {
      return heap.length;
    },
    nextTime: () => heap[0]?.time ?? Number.POSITIVE_INFINITY,
    add(time, job) {
      heap.push({ time, job });
      up(heap.length - 1);
    },
    takeUntil(time) {
      const taken: number[] = [];
      for (let first = heap[0]; first !== undefined && first.time <= time; first = heap[0]) {
        taken.push(first.job);
        swap(0, heap.length - 1);
        heap.pop();
        down();
      }
      return taken;
    },
  };
}
