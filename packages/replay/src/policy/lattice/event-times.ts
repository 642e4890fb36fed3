// Future events by time: a binary heap of (time, number). Equal times come out by number, so the order is total.

interface EventTimes {
  readonly size: number;
  /** Returns Infinity when empty. */
  nextTime(): number;
  add(time: number, number: number): void;
  /** Removes and returns the numbers of all events up to and including this time, in order. */
  takeUntil(time: number): number[];
}

interface Event {
  readonly time: number;
  readonly number: number;
}

export function createEventTimes(): EventTimes {
  const heap: Event[] = [];
  return {
    get size() {
      return heap.length;
    },
    nextTime: () => heap[0]?.time ?? Number.POSITIVE_INFINITY,
    add(time, number) {
      heap.push({ time, number });
      rise(heap, heap.length - 1);
    },
    takeUntil(time) {
      const taken: number[] = [];
      for (let first = heap[0]; first !== undefined && first.time <= time; first = heap[0]) {
        taken.push(first.number);
        const last = heap.pop() as Event;
        if (heap.length > 0) {
          heap[0] = last;
          sink(heap);
        }
      }
      return taken;
    },
  };
}

const goesFirst = (one: Event, other: Event): boolean =>
  one.time < other.time || (one.time === other.time && one.number < other.number);

function rise(heap: Event[], from: number): void {
  const event = heap[from] as Event;
  let hole = from;
  while (hole > 0) {
    const parent = (hole - 1) >> 1;
    if (!goesFirst(event, heap[parent] as Event)) break;
    heap[hole] = heap[parent] as Event;
    hole = parent;
  }
  heap[hole] = event;
}

function sink(heap: Event[]): void {
  const event = heap[0] as Event;
  let hole = 0;
  for (let child = 1; child < heap.length; child = 2 * hole + 1) {
    if (child + 1 < heap.length && goesFirst(heap[child + 1] as Event, heap[child] as Event)) child += 1;
    if (!goesFirst(heap[child] as Event, event)) break;
    heap[hole] = heap[child] as Event;
    hole = child;
  }
  heap[hole] = event;
}
