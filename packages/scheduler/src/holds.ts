// Intervals for which nodes are promised away: this plan's reservations and those of other vClusters. There
// are few of them and each names many nodes, so nothing is kept by node until somebody asks: then when a
// node is first held, or who is taken at some time, is written into one array for all nodes at once.

import type { Machine } from "./machine/machine.ts";
import type { Space } from "./space.ts";

export interface Hold {
  readonly startsAt: number;
  /** Infinity: never. */
  readonly endsAt: number;
  readonly nodes: readonly number[];
}

/** By node: `of[node] === taken` where it is marked. */
export interface Marks {
  readonly of: Uint32Array;
  readonly taken: number;
}

export interface Holds {
  add(hold: Hold): void;
  remove(hold: Hold): void;
  /** In the order in which they were added. */
  all(): readonly Hold[];
  /** When the node is first promised away; Infinity when it is not. */
  first(node: number): number;
  /** Every interval of the node, in no order. */
  of(node: number): readonly Hold[];
  /** Marks the nodes that are promised to somebody within [from, to); valid until the next such question. */
  taken(from: number, to: number, isLeftOut?: (hold: Hold) => boolean): Marks;
  /** Calls back with cells that have free nodes held before the instant, and how many; a cell may come twice. */
  heldBefore(instant: number, tell: (cell: number, count: number) => void): void;
  /** Nodes with any hold. */
  nodes(): Iterable<number>;
  /** Whether the node is free has changed. */
  recount(node: number): void;
}

type Arrays = Pick<Space, "firsts" | "marks">;

export function createHolds(machine: Machine, availableFrom: Float64Array, now: number, arrays: Arrays): Holds {
  const { firsts, marks } = arrays;
  let all: readonly Hold[] = [];
  let areFirstsKnown = false;
  /** A list of (cell, first hold, free nodes), made when asked for: many ask between two changes. */
  let flat: Float64Array | null = null;
  let byNode: Map<number, Hold[]> | null = null;

  function changed(): void {
    areFirstsKnown = false;
    flat = null;
    byNode = null;
  }
  function first(node: number): number {
    if (!areFirstsKnown) findFirsts(firsts, all);
    areFirstsKnown = true;
    return firsts[node] as number;
  }
  function listed(): Map<number, Hold[]> {
    byNode ??= listByNode(all);
    return byNode;
  }

  return {
    add(hold) {
      all = [...all, hold];
      changed();
    },
    remove(hold) {
      all = all.filter((other) => other !== hold);
      changed();
    },
    all: () => all,
    first,
    of: (node) => listed().get(node) ?? NONE,
    taken(from, to, isLeftOut = nobody) {
      const taken = marks.next();
      for (const hold of all) {
        if (hold.startsAt >= to || hold.endsAt <= from || isLeftOut(hold)) continue;
        const { nodes } = hold;
        for (let i = 0; i < nodes.length; i += 1) marks.of[nodes[i] as number] = taken;
      }
      return { of: marks.of, taken };
    },
    heldBefore(instant, tell) {
      if (all.length === 0) return;
      flat ??= countFree(all);
      for (let at = 0; at < flat.length; at += 3) {
        if ((flat[at + 1] as number) < instant) tell(flat[at] as number, flat[at + 2] as number);
      }
    },
    nodes: () => listed().keys(),
    recount(node) {
      if (flat !== null && first(node) !== Number.POSITIVE_INFINITY) flat = null;
    },
  };

  /** Free nodes by cell and first hold. Nodes of a cell lie side by side. */
  function countFree(holds: readonly Hold[]): Float64Array {
    const found: number[] = [];
    const taken = marks.next();
    for (const { startsAt, nodes } of [...holds].sort((a, b) => a.startsAt - b.startsAt)) {
      let cell = -1;
      let count = 0;
      for (let i = 0; i < nodes.length; i += 1) {
        const node = nodes[i] as number;
        if ((availableFrom[node] as number) > now || marks.of[node] === taken) continue;
        marks.of[node] = taken;
        const own = machine.cells.ofNode[node] as number;
        if (own !== cell && count > 0) {
          found.push(cell, startsAt, count);
          count = 0;
        }
        cell = own;
        count += 1;
      }
      if (count > 0) found.push(cell, startsAt, count);
    }
    return Float64Array.from(found);
  }
}

const NONE: readonly Hold[] = [];

const nobody = (): boolean => false;

function findFirsts(firsts: Float64Array, holds: readonly Hold[]): void {
  firsts.fill(Number.POSITIVE_INFINITY);
  for (const { startsAt, nodes } of holds) {
    for (let i = 0; i < nodes.length; i += 1) {
      const node = nodes[i] as number;
      if (startsAt < (firsts[node] as number)) firsts[node] = startsAt;
    }
  }
}

function listByNode(holds: readonly Hold[]): Map<number, Hold[]> {
  const byNode = new Map<number, Hold[]>();
  for (const hold of holds) {
    for (const node of hold.nodes) {
      const known = byNode.get(node);
      if (known === undefined) byNode.set(node, [hold]);
      else known.push(hold);
    }
  }
  return byNode;
}
