// Intervals for which nodes are promised away: this plan's reservations and those of other vClusters.
// Answers when a node is first held, and how many free nodes of each cell are held before an instant,
// without looking at nodes that nobody holds.

import type { Machine } from "./machine/machine.ts";

export interface Hold {
  readonly startsAt: number;
  /** Infinity: never. */
  readonly endsAt: number;
  readonly nodes: readonly number[];
}

export interface Holds {
  add(hold: Hold): void;
  remove(hold: Hold): void;
  /** When the node is first promised away; Infinity when it is not. */
  first(node: number): number;
  /** Every interval of the node, in no order. */
  of(node: number): readonly Hold[];
  /** Is the node promised to nobody within [from, to)? */
  isOpen(node: number, from: number, to: number): boolean;
  /** Calls back with cells that have free nodes held before the instant, and how many; a cell may come twice. */
  heldBefore(instant: number, tell: (cell: number, count: number) => void): void;
  /** Nodes with any hold. */
  nodes(): Iterable<number>;
  /** The node is taken: it no longer counts among the free ones. */
  noLongerFree(node: number): void;
  /** Takes that back; the node must be free again. */
  freeAgain(node: number): void;
}

export function createHolds(machine: Machine, availableFrom: Float64Array, now: number): Holds {
  const byNode = new Map<number, Hold[]>();
  const firsts = new Float64Array(machine.nodes.length).fill(Number.POSITIVE_INFINITY);
  /** Free nodes by cell and first hold. */
  const freeHeld = new Map<number, Map<number, number>>();
  /** The same as a list of (cell, first hold, nodes), made when asked for: many ask between two changes. */
  let flat: Float64Array | null = null;

  const count = (node: number, change: 1 | -1): void => {
    const from = firsts[node] as number;
    if (from === Number.POSITIVE_INFINITY || (availableFrom[node] as number) > now) return;
    const cell = machine.cells.ofNode[node] as number;
    const inCell = freeHeld.get(cell) ?? new Map<number, number>();
    freeHeld.set(cell, inCell);
    const left = (inCell.get(from) ?? 0) + change;
    if (left > 0) inCell.set(from, left);
    else inCell.delete(from);
    if (inCell.size === 0) freeHeld.delete(cell);
    flat = null;
  };
  const setFirst = (node: number, holds: readonly Hold[]): void => {
    count(node, -1);
    firsts[node] = holds.reduce((first, hold) => Math.min(first, hold.startsAt), Number.POSITIVE_INFINITY);
    count(node, 1);
  };

  return {
    add(hold) {
      for (const node of hold.nodes) {
        const holds = byNode.get(node);
        if (holds === undefined) byNode.set(node, [hold]);
        else holds.push(hold);
        setFirst(node, holds ?? [hold]);
      }
    },
    remove(hold) {
      for (const node of hold.nodes) {
        const left = (byNode.get(node) ?? []).filter((other) => other !== hold);
        if (left.length === 0) byNode.delete(node);
        else byNode.set(node, left);
        setFirst(node, left);
      }
    },
    first: (node) => firsts[node] as number,
    of: (node) => byNode.get(node) ?? NONE,
    isOpen(node, from, to) {
      if ((firsts[node] as number) >= to) return true;
      return (byNode.get(node) ?? NONE).every((hold) => hold.startsAt >= to || hold.endsAt <= from);
    },
    heldBefore(instant, tell) {
      flat ??= Float64Array.from(
        [...freeHeld].flatMap(([cell, inCell]) => [...inCell].flatMap(([from, nodes]) => [cell, from, nodes])),
      );
      for (let at = 0; at < flat.length; at += 3) {
        if ((flat[at + 1] as number) < instant) tell(flat[at] as number, flat[at + 2] as number);
      }
    },
    nodes: () => byNode.keys(),
    noLongerFree: (node) => count(node, -1),
    freeAgain: (node) => count(node, 1),
  };
}

const NONE: readonly Hold[] = [];
