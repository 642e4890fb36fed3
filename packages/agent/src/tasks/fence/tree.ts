// One node's part in the exchanges of a launch that is too large for all nodes to go through the leader: it waits for
// those below it, passes what they and its own ranks brought to the one above, and passes down what comes back.
// Pure. What is lost on the way is said again by whoever comes back, and changes nothing when it had arrived.

import type { Entry } from "../name-types.ts";

export interface FenceResult {
  readonly number: number;
  readonly entries: readonly Entry[];
}

export type FenceEffect =
  /** For the one above. */
  | ({ readonly kind: "up" } & FenceResult)
  /** For these below. */
  | ({ readonly kind: "down"; readonly to: readonly number[] } & FenceResult)
  /** For the ranks of this node. */
  | ({ readonly kind: "done" } & FenceResult);

export interface FenceTree {
  own(number: number, entries: readonly Entry[]): readonly FenceEffect[];
  fromBelow(node: number, number: number, entries: readonly Entry[]): readonly FenceEffect[];
  fromAbove(number: number, entries: readonly Entry[]): readonly FenceEffect[];
  /** What the one above has not answered yet; null: nothing. */
  pending(): FenceResult | null;
}

const OWN = -1;

/** `isTop`: nobody is above. */
export function fenceTree(below: readonly number[], isTop: boolean): FenceTree {
  let last: FenceResult = { number: 0, entries: [] };
  let pending: FenceResult | null = null;
  let arrived = new Map<number, readonly Entry[]>();

  function arrive(from: number, number: number, entries: readonly Entry[]): readonly FenceEffect[] {
    // Nobody can be beyond the next: an exchange ends for all before anybody begins another.
    if (number !== last.number + 1) return [];
    arrived.set(from, entries);
    if (arrived.size <= below.length || pending !== null) return [];
    const brought = [OWN, ...below].flatMap((node) => arrived.get(node) ?? []);
    if (isTop) return finish(number, brought);
    pending = { number, entries: brought };
    return [{ kind: "up", ...pending }];
  }

  function finish(number: number, entries: readonly Entry[]): readonly FenceEffect[] {
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
      // It missed the answer.
      if (number === last.number) return [{ kind: "down", to: [node], ...last }];
      return arrive(node, number, entries);
    },
    fromAbove: (number, entries) => (pending?.number === number ? finish(number, entries) : []),
    pending: () => pending,
  };
}
