// The exchange of addresses among the nodes of one launch: every node brings what its ranks have put,
// and when all have come each gets the whole. Pure. All nodes go through the leader, a star. A leader that takes a launch up
// hears from every node what it brought to the newest exchange and to the one before: a node may have got the end of an
// exchange that another has not.

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
  const brought = new Map<number, Map<number, readonly KeyValue[]>>();
  return {
    arrive(node, number, entries) {
      if (number <= (last?.number ?? 0)) return null;
      const arrived = brought.get(number) ?? new Map<number, readonly KeyValue[]>();
      brought.set(number, arrived.set(node, entries));
      if (arrived.size < nodeCount) return null;
      const inOrder = [...arrived].sort(([a], [b]) => a - b);
      last = { number, entries: inOrder.flatMap(([, own]) => own) };
      for (const earlier of brought.keys()) if (earlier <= number) brought.delete(earlier);
      return last;
    },
    last: () => last,
  };
}
