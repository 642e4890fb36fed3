// What nodes are, as opposed to what they are doing: groups, conformance values and kinds of hardware, each
// numbered. Nodes alike in all three form a cell: candidates, counts and choices are made by cell,
// and only the nodes finally taken are touched one by one. But for the memos of matches, which depend on
// nothing else, it never changes; so cycles over the same nodes may share it.

import { byCodeUnits, type GroupId, type NodeId } from "@lattice/core";
import { MATCH_LIMIT } from "../limits.ts";
import type { NodeInput } from "../node-input.ts";
import type { Space } from "../space.ts";
import { type Cells, cellsOf } from "./cells.ts";
import { inNaturalOrder } from "./group-order.ts";
import { isSameFloor, numberKinds } from "./kinds.ts";
import type { Hardware, Match } from "./match.ts";

export interface Floor {
  readonly indexOf: ReadonlyMap<NodeId, number>;
  /** In natural order, so that neighbours are adjacent. */
  readonly groups: readonly GroupId[];
  readonly groupOf: Int32Array;
  /** Number 0 is the unknown conformance. */
  readonly conformanceCount: number;
  readonly conformanceOf: Int32Array;
  /** One node of each kind of hardware: constraints are checked once per kind. */
  readonly kinds: readonly NodeInput[];
  readonly kindOf: Int32Array;
  readonly cells: Cells;
  readonly usableCount: number;
  readonly matches: Map<string, Match>;
  readonly hardware: Map<string, Hardware>;
}

/** Carried from cycle to cycle by whoever runs them; it changes how fast a plan is made, never the plan. */
export interface Reuse {
  last: { readonly nodes: readonly NodeInput[]; readonly floor: Floor } | null;
  space: Space | null;
}

export const createReuse = (): Reuse => ({ last: null, space: null });

/** `nodes` are in order of id. */
export function floorFor(nodes: readonly NodeInput[], reuse: Reuse | undefined): Floor {
  const last = reuse?.last ?? null;
  if (last !== null && (last.nodes === nodes || isSame(last.nodes, nodes))) {
    if (last.floor.matches.size > MATCH_LIMIT) last.floor.matches.clear();
    if (reuse !== undefined && last.nodes !== nodes) reuse.last = { nodes, floor: last.floor };
    return last.floor;
  }
  const floor = floorOf(nodes);
  if (reuse !== undefined) reuse.last = { nodes, floor };
  return floor;
}

function floorOf(nodes: readonly NodeInput[]): Floor {
  const indexOf = new Map<NodeId, number>();
  let usableCount = 0;
  for (let index = 0; index < nodes.length; index += 1) {
    const node = nodes[index] as NodeInput;
    indexOf.set(node.id, index);
    if (node.usable) usableCount += 1;
  }
  const { values: groups, numbers: groupOf } = numbered(nodes, (node) => node.group, inNaturalOrder);
  const conformance = numbered(nodes, (node) => node.conformance, byCodeUnits, "");
  const { kinds, kindOf } = numberKinds(nodes);
  const conformanceOf = conformance.numbers;
  return {
    indexOf,
    groups,
    groupOf,
    conformanceCount: conformance.values.length,
    conformanceOf,
    kinds,
    kindOf,
    cells: cellsOf({ nodes, groupOf, conformanceOf, kindOf, kindCount: kinds.length }),
    usableCount,
    matches: new Map(),
    hardware: new Map(),
  };
}

function isSame(before: readonly NodeInput[], now: readonly NodeInput[]): boolean {
  if (before.length !== now.length) return false;
  for (let index = 0; index < now.length; index += 1) {
    const one = before[index] as NodeInput;
    const other = now[index] as NodeInput;
    if (one === other) continue;
    if (!isSameFloor(one, other)) return false;
  }
  return true;
}

/** Numbers the distinct values in order; `first`, where given, is number 0 whether it occurs or not. */
function numbered<T extends string>(
  nodes: readonly NodeInput[],
  of: (node: NodeInput) => T,
  compare: (a: string, b: string) => number,
  first?: T,
): { values: readonly T[]; numbers: Int32Array } {
  const distinct = new Set<T>();
  for (const node of nodes) distinct.add(of(node));
  if (first !== undefined) distinct.delete(first);
  const rest = [...distinct].sort(compare);
  const values = first === undefined ? rest : [first, ...rest];
  const numberOf = new Map(values.map((value, number) => [value, number]));
  return { values, numbers: Int32Array.from(nodes, (node) => numberOf.get(of(node)) ?? 0) };
}
