// The exchange of addresses among the nodes of one launch: every node contributes the entries of its ranks, and when all have
// arrived each receives the whole. Pure. All nodes use the leader, a star. A leader that adopts a launch receives from every node
// its part of the newest exchange and of the one before, because a node may have the result of an exchange that another lacks.

export interface KeyValue {
  readonly key: string;
  readonly value: string;
}

export interface FenceResult {
  readonly number: number;
  readonly entries: readonly KeyValue[];
}

export interface Exchange {
  readonly nodeCount: number;
  /** The last complete exchange, for a node that may have missed its result. */
  readonly last: FenceResult | null;
  /** By number of the exchange, then by place: the contributions so far. */
  readonly open: ReadonlyMap<number, ReadonlyMap<number, readonly KeyValue[]>>;
}

interface Arrival {
  readonly place: number;
  readonly number: number;
  readonly entries: readonly KeyValue[];
}

export const newExchange = (nodeCount: number): Exchange => ({ nodeCount, last: null, open: new Map() });

/** Returns the whole exchange when this node was the last to arrive. A repeated arrival changes nothing. */
export function arrive(
  exchange: Exchange,
  { place, number, entries }: Arrival,
): readonly [exchange: Exchange, result: FenceResult | null] {
  const { nodeCount, last, open } = exchange;
  if (number <= (last?.number ?? 0)) return [exchange, null];
  const arrived = new Map(open.get(number)).set(place, entries);
  if (arrived.size < nodeCount) return [{ ...exchange, open: new Map(open).set(number, arrived) }, null];
  const inOrder = [...arrived].sort(([a], [b]) => a - b);
  const result = { number, entries: inOrder.flatMap(([, own]) => own) };
  return [{ nodeCount, last: result, open: new Map([...open].filter(([key]) => key > number)) }, result];
}
