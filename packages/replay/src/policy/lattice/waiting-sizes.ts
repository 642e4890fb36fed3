// The sizes of waiting jobs: the smallest one shows, without a cycle, that nothing can start.

export interface WaitingSizes {
  add(nodes: number): void;
  remove(nodes: number): void;
  /** Returns Infinity when no job waits. */
  least(): number;
}

export function createWaitingSizes(most: number): WaitingSizes {
  const counts = new Int32Array(most + 1);
  let waiting = 0;
  /** No waiting job is smaller than this. */
  let from = most;
  return {
    add(nodes) {
      counts[nodes] = (counts[nodes] as number) + 1;
      waiting += 1;
      from = Math.min(from, nodes);
    },
    remove(nodes) {
      counts[nodes] = (counts[nodes] as number) - 1;
      waiting -= 1;
    },
    least() {
      if (waiting === 0) return Number.POSITIVE_INFINITY;
      while (counts[from] === 0) from += 1;
      return from;
    },
  };
}
