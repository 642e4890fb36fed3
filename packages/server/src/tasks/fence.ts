// The exchange of addresses among the nodes of one launch: every node brings what its ranks have put,
// and when all have come each gets the whole. Pure. All nodes go through the leader, a star.

export interface KeyValue {
  readonly key: string;
  readonly value: string;
}

export interface FenceResult {
  readonly number: number;
  readonly entries: readonly KeyValue[];
}

export interface Fences {
  /** The whole exchange when this node was the last to come; null otherwise. A repeated message changes nothing. */
  arrive(node: number, number: number, entries: readonly KeyValue[]): FenceResult | null;
  /** For a node that may have missed the end of it. */
  last(): FenceResult | null;
}

export function fences(nodeCount: number): Fences {
  let last: FenceResult | null = null;
  let arrived = new Map<number, readonly KeyValue[]>();
  return {
    arrive(node, number, entries) {
      // Nobody can be beyond the next: a fence ends for all at once.
      if (number !== (last?.number ?? 0) + 1) return null;
      arrived.set(node, entries);
      if (arrived.size < nodeCount) return null;
      const inOrder = [...arrived].sort(([a], [b]) => a - b);
      last = { number, entries: inOrder.flatMap(([, brought]) => brought) };
      arrived = new Map();
      return last;
    },
    last: () => last,
  };
}
