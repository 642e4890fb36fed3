// The intervals for which nodes are reserved: this plan's reservations, those of other vClusters, and nodes freed by
// preemption. There are few intervals with many nodes each, so their nodes are combined as bits, and only on demand.

import { addAll, bitsOf, hasBit, ones, wordsFor } from "../base/bits.ts";
import type { Machine } from "../machine/machine.ts";
import type { PlanBuffers } from "../machine/plan-buffers.ts";

export interface ReservedInterval {
  readonly startsAt: number;
  /** Infinity when it never ends. */
  readonly endsAt: number;
  readonly nodes: readonly number[];
}

/** By node: `of[node] === mark` where it is marked. */
interface NodeMarks {
  readonly of: Uint32Array;
  readonly mark: number;
}

type Buffers = Pick<PlanBuffers, "reservedBefore" | "reservedWithin" | "marks" | "plannedFree">;

/** Up to this many intervals one bit each identifies which of them a set of nodes was made of. */
const BITMASK_LIMIT = 31;

export class ReservedIntervals {
  #all: readonly ReservedInterval[] = [];
  /** The instant that the buffer `reservedBefore` was made for; NaN when it is outdated. */
  #beforeInstant = Number.NaN;
  /** The intervals that `reservedWithin` was made of, a bit each; NaN when it is outdated or they are too many. */
  #withinMask = Number.NaN;
  /** Triples of cell, earliest start and free nodes; computed on demand, since many read them between two changes. */
  #freeCounts: readonly number[] | null = null;
  #byNode: Map<number, ReservedInterval[]> | null = null;
  readonly #machine: Machine;
  readonly #buffers: Buffers;

  constructor(machine: Machine, buffers: Buffers) {
    this.#machine = machine;
    this.#buffers = buffers;
  }

  add(interval: ReservedInterval): void {
    this.#all = [...this.#all, interval];
    this.#invalidate();
  }

  remove(interval: ReservedInterval): void {
    this.#all = this.#all.filter((other) => other !== interval);
    this.#invalidate();
  }

  /** Returns all intervals in the order in which they were added. */
  all(): readonly ReservedInterval[] {
    return this.#all;
  }

  /** Returns one bit for each node reserved before the instant; valid until the next call. */
  reservedBefore(instant: number): Uint32Array {
    const { reservedBefore } = this.#buffers;
    if (this.#beforeInstant === instant) return reservedBefore;
    reservedBefore.fill(0);
    for (const { startsAt, nodes } of this.#all) {
      if (startsAt < instant) addAll(reservedBefore, bitsOf(nodes, this.#size()));
    }
    this.#beforeInstant = instant;
    return reservedBefore;
  }

  /** Returns one bit for each node reserved within [from, to); valid until the next call. */
  reservedWithin(from: number, to: number): Uint32Array {
    const { reservedWithin } = this.#buffers;
    const hasMask = this.#all.length <= BITMASK_LIMIT;
    let mask = 0;
    for (let i = 0; hasMask && i < this.#all.length; i += 1) {
      const { startsAt, endsAt } = this.#all[i] as ReservedInterval;
      if (startsAt < to && endsAt > from) mask |= 1 << i;
    }
    // Consecutive questions mostly overlap the same intervals.
    if (hasMask && mask === this.#withinMask) return reservedWithin;
    reservedWithin.fill(0);
    for (const { startsAt, endsAt, nodes } of this.#all) {
      if (startsAt < to && endsAt > from) addAll(reservedWithin, bitsOf(nodes, this.#size()));
    }
    this.#withinMask = hasMask ? mask : Number.NaN;
    return reservedWithin;
  }

  /** Marks the nodes reserved within [from, to); valid until the next call. */
  markReserved(from: number, to: number): NodeMarks {
    const { marks } = this.#buffers;
    const mark = marks.next();
    for (const { startsAt, endsAt, nodes } of this.#all) {
      if (startsAt >= to || endsAt <= from) continue;
      for (let i = 0; i < nodes.length; i += 1) marks.of[nodes[i] as number] = mark;
    }
    return { of: marks.of, mark };
  }

  /** Calls back with the number of free nodes of a cell that are reserved before the instant; a cell may come twice. */
  countReservedFree(instant: number, visit: (cell: number, count: number) => void): void {
    if (this.#all.length === 0) return;
    this.#freeCounts ??= this.#countFree();
    const counts = this.#freeCounts;
    for (let at = 0; at < counts.length; at += 3) {
      if ((counts[at + 1] as number) < instant) visit(counts[at] as number, counts[at + 2] as number);
    }
  }

  /** Discards the counts of free nodes when one of these nodes is reserved: they were free and are no longer, or are again. */
  invalidateCounts(nodes: readonly number[]): void {
    if (this.#freeCounts === null) return;
    const everReserved = this.reservedBefore(Number.POSITIVE_INFINITY);
    for (let i = 0; i < nodes.length && this.#freeCounts !== null; i += 1) {
      if (hasBit(everReserved, nodes[i] as number)) this.#freeCounts = null;
    }
  }

  /** Returns the intervals of one node, in no particular order. */
  ofNode(node: number): readonly ReservedInterval[] {
    return this.#listByNode().get(node) ?? NONE;
  }

  /** Returns the nodes with at least one interval. */
  nodes(): Iterable<number> {
    return this.#listByNode().keys();
  }

  #size(): number {
    return this.#machine.nodes.length;
  }

  #invalidate(): void {
    this.#beforeInstant = Number.NaN;
    this.#withinMask = Number.NaN;
    this.#freeCounts = null;
    this.#byNode = null;
  }

  #listByNode(): Map<number, ReservedInterval[]> {
    if (this.#byNode !== null) return this.#byNode;
    const byNode = new Map<number, ReservedInterval[]>();
    for (const interval of this.#all) {
      for (const node of interval.nodes) {
        const known = byNode.get(node);
        if (known === undefined) byNode.set(node, [interval]);
        else known.push(interval);
      }
    }
    this.#byNode = byNode;
    return byNode;
  }

  /** Free nodes by cell and earliest interval. The nodes of a cell mostly have consecutive numbers. */
  #countFree(): readonly number[] {
    const { cells } = this.#machine;
    const free = this.#buffers.plannedFree;
    const counts: number[] = [];
    const seen = new Uint32Array(wordsFor(this.#size()));
    const isOneCell = cells.count === 1;
    for (const { startsAt, nodes } of [...this.#all].sort((a, b) => a.startsAt - b.startsAt)) {
      const own = bitsOf(nodes, this.#size());
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
          const ofNode = cells.ofNode[(word << 5) + 31 - Math.clz32(left & -left)] as number;
          if (ofNode !== cell && count > 0) {
            counts.push(cell, startsAt, count);
            count = 0;
          }
          cell = ofNode;
          count += 1;
        }
      }
      if (count > 0) counts.push(cell, startsAt, count);
    }
    return counts;
  }
}

const NONE: readonly ReservedInterval[] = [];
