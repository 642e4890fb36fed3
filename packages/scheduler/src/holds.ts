// Intervals for which nodes are promised away: this plan's reservations and those of other vClusters. There
// are few of them and each names many nodes, so they are put together as bits, and only when somebody asks.

import { addAll, bitsOf, hasBit, ones, wordsFor } from "./bits.ts";
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
  /** One bit for each node that is promised to somebody before the instant; valid until the next such question. */
  before(instant: number): Uint32Array;
  /** One bit for each node that is promised to somebody within [from, to); valid until the next such question. */
  within(from: number, to: number): Uint32Array;
  /** Every interval of the node, in no order. */
  of(node: number): readonly Hold[];
  /** Marks the nodes that are promised to somebody within [from, to); valid until the next such question. */
  taken(from: number, to: number): Marks;
  /** Calls back with cells that have free nodes held before the instant, and how many; a cell may come twice. */
  heldBefore(instant: number, tell: (cell: number, count: number) => void): void;
  /** Nodes with any hold. */
  nodes(): Iterable<number>;
  /** Nodes were free and are no longer. */
  recount(nodes: readonly number[]): void;
}

type Arrays = Pick<Space, "held" | "closed" | "marks" | "plannedFree">;

/** So many holds are told apart by one bit each. */
const TOLD_APART = 31;

export function createHolds(machine: Machine, { held, closed, marks, plannedFree: free }: Arrays): Holds {
  const size = machine.nodes.length;
  let all: readonly Hold[] = [];
  /** What `held` was made for; not a number: for nothing that still holds. */
  let heldUntil = Number.NaN;
  /** Of which holds `closed` was made, a bit each; not a number: of none that still hold, or of too many to tell. */
  let closedBy = Number.NaN;
  /** A list of (cell, first hold, free nodes), made when asked for: many ask between two changes. */
  let flat: readonly number[] | null = null;
  let byNode: Map<number, Hold[]> | null = null;

  function changed(): void {
    heldUntil = Number.NaN;
    closedBy = Number.NaN;
    flat = null;
    byNode = null;
  }
  function before(instant: number): Uint32Array {
    if (heldUntil === instant) return held;
    held.fill(0);
    for (const { startsAt, nodes } of all) if (startsAt < instant) addAll(held, bitsOf(nodes, size));
    heldUntil = instant;
    return held;
  }
  /** Instants asked about one after the other mostly overlap the same holds. */
  function within(from: number, to: number): Uint32Array {
    const areTold = all.length <= TOLD_APART;
    let by = 0;
    for (let i = 0; areTold && i < all.length; i += 1) {
      const { startsAt, endsAt } = all[i] as Hold;
      if (startsAt < to && endsAt > from) by |= 1 << i;
    }
    if (areTold && by === closedBy) return closed;
    closed.fill(0);
    for (const { startsAt, endsAt, nodes } of all) {
      if (startsAt < to && endsAt > from) addAll(closed, bitsOf(nodes, size));
    }
    closedBy = areTold ? by : Number.NaN;
    return closed;
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
    before,
    within,
    of: (node) => listed().get(node) ?? NONE,
    taken(from, to) {
      const taken = marks.next();
      for (const hold of all) {
        if (hold.startsAt >= to || hold.endsAt <= from) continue;
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
    recount(nodes) {
      if (flat === null) return;
      const everHeld = before(Number.POSITIVE_INFINITY);
      for (let i = 0; i < nodes.length && flat !== null; i += 1) if (hasBit(everHeld, nodes[i] as number)) flat = null;
    },
  };

  /** Free nodes by cell and first hold. Nodes of a cell mostly lie side by side. */
  function countFree(holds: readonly Hold[]): readonly number[] {
    const found: number[] = [];
    const seen = new Uint32Array(wordsFor(size));
    const isOneCell = machine.cells.count === 1;
    for (const { startsAt, nodes } of [...holds].sort((a, b) => a.startsAt - b.startsAt)) {
      const own = bitsOf(nodes, size);
      let cell = isOneCell ? 0 : -1;
      let count = 0;
      for (let word = 0; word < own.length; word += 1) {
        const fresh = (own[word] as number) & (free[word] as number) & ~(seen[word] as number);
        if (fresh === 0) continue;
        seen[word] = (seen[word] as number) | fresh;
        if (isOneCell) {
          count += ones(fresh);
          continue;
        }
        for (let left = fresh; left !== 0; left &= left - 1) {
          const of = machine.cells.ofNode[(word << 5) + 31 - Math.clz32(left & -left)] as number;
          if (of !== cell && count > 0) {
            found.push(cell, startsAt, count);
            count = 0;
          }
          cell = of;
          count += 1;
        }
      }
      if (count > 0) found.push(cell, startsAt, count);
    }
    return found;
  }
}

const NONE: readonly Hold[] = [];

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
