// One node's part in the fences of a large launch, which form a tree: it waits for its children, passes their entries
// and its own to the parent, and passes the result down. Pure. A lost message is repeated by the peer that reconnects,
// and a duplicate changes nothing.

import type { PmiEntry } from "../base/name-types.ts";

interface FenceEntries {
  readonly number: number;
  readonly entries: readonly PmiEntry[];
}

export type FenceEffect =
  /** For the parent. */
  | ({ readonly kind: "up" } & FenceEntries)
  /** For these children. */
  | ({ readonly kind: "down"; readonly to: readonly number[] } & FenceEntries)
  /** For the ranks of this node. */
  | ({ readonly kind: "done" } & FenceEntries);

interface FenceTree {
  own(number: number, entries: readonly PmiEntry[]): readonly FenceEffect[];
  fromBelow(node: number, number: number, entries: readonly PmiEntry[]): readonly FenceEffect[];
  fromAbove(number: number, entries: readonly PmiEntry[]): readonly FenceEffect[];
  /** Returns what the parent has not answered yet, or null. */
  pending(): FenceEntries | null;
}

const OWN = -1;

/** `isTop`: this node has no parent. */
export function fenceTree(below: readonly number[], isTop: boolean): FenceTree {
  let last: FenceEntries = { number: 0, entries: [] };
  let pending: FenceEntries | null = null;
  let arrived = new Map<number, readonly PmiEntry[]>();

  function arrive(from: number, number: number, entries: readonly PmiEntry[]): readonly FenceEffect[] {
    // No node can be further ahead: a fence ends for all before the next begins.
    if (number !== last.number + 1) return [];
    arrived.set(from, entries);
    if (arrived.size <= below.length || pending !== null) return [];
    const brought = [OWN, ...below].flatMap((node) => arrived.get(node) ?? []);
    if (isTop) return finish(number, brought);
    pending = { number, entries: brought };
    return [{ kind: "up", ...pending }];
  }

  function finish(number: number, entries: readonly PmiEntry[]): readonly FenceEffect[] {
    last = { number, entries };
    pending = null;
    arrived = new Map();
    const passed: readonly FenceEffect[] = below.length === 0 ? [] : [{ kind: "down", to: below, ...last }];
    return [...passed, { kind: "done", ...last }];
  }

  return {
    own: (number, entries) => arrive(OWN, number, entries),
    fromBelow(node, number, entries) {
      if (!below.includes(node)) return [];
      // The child missed the answer.
      if (number === last.number) return [{ kind: "down", to: [node], ...last }];
      return arrive(node, number, entries);
    },
    fromAbove: (number, entries) => (pending?.number === number ? finish(number, entries) : []),
    pending: () => pending,
  };
}
