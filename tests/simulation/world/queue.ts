// The next events: a binary heap ordered by time, then by insertion. Two events of one instant always have the same
// order, so a run depends on its seed alone.

export interface QueuedEvent {
  readonly at: number;
  readonly order: number;
  /** `null` once cancelled. */
  run: (() => void) | null;
}

export interface Queue {
  push(happening: QueuedEvent): void;
  /** The earliest event, or `null` when none is left. */
  pop(): QueuedEvent | null;
  readonly size: number;
}

export function createQueue(): Queue {
  const heap: QueuedEvent[] = [];

  function rise(from: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!swapIfBefore(at, parent)) return;
      at = parent;
    }
  }

  function sink(): void {
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= heap.length) return;
      const child = left + 1 < heap.length && isBefore(heap[left + 1], heap[left]) ? left + 1 : left;
      if (!swapIfBefore(child, at)) return;
      at = child;
    }
  }

  function swapIfBefore(lower: number, upper: number): boolean {
    const a = heap[lower];
    const b = heap[upper];
    if (a === undefined || b === undefined || !isBefore(a, b)) return false;
    heap[lower] = b;
    heap[upper] = a;
    return true;
  }

  return {
    push(happening) {
      heap.push(happening);
      rise(heap.length - 1);
    },
    pop() {
      const first = heap[0];
      const last = heap.pop();
      if (first === undefined || last === undefined) return null;
      if (heap.length > 0) {
        heap[0] = last;
        sink();
      }
      return first;
    },
    get size() {
      return heap.length;
    },
  };
}

function isBefore(a: QueuedEvent | undefined, b: QueuedEvent | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
