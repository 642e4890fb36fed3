// The hardware of the nodes, as opposed to their state: groups, conformance values and kinds of hardware, each
// numbered. Nodes equal in all three form a cell. Candidates, counts and choices are made by cell; only the nodes
// finally taken are handled one by one. The index never changes, except for its memos of matches, so cycles over the
// same nodes share it.

import { byCodeUnits, type GroupId, type NodeId } from "@lattice/core";
import { MATCH_LIMIT } from "../base/bounds.ts";
import { type CycleCache, createCycleCache } from "../input/cycle-cache.ts";
import type { NodeInput } from "../input/node-input.ts";
import { type Cells, cellsOf } from "./cells.ts";
import { inNaturalOrder } from "./group-order.ts";
import { isSameHardware, numberKinds } from "./kinds.ts";
import type { Match, MatchingHardware } from "./match.ts";

export interface HardwareIndex {
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
  readonly matchingHardware: Map<string, MatchingHardware>;
}

interface CachedIndex {
  readonly nodes: readonly NodeInput[];
  readonly index: HardwareIndex;
}

/** The index of the previous cycle with the same cache. */
const indexByCache = new WeakMap<CycleCache, CachedIndex>();

/** Returns a cache whose next cycle over these nodes finds this index. */
export function cacheWith(nodes: readonly NodeInput[], index: HardwareIndex): CycleCache {
  const cache = createCycleCache();
  indexByCache.set(cache, { nodes, index });
  return cache;
}

/** Returns the index of nodes sorted by id. */
export function hardwareIndexFor(nodes: readonly NodeInput[], cache: CycleCache | undefined): HardwareIndex {
  const last = cache === undefined ? null : (indexByCache.get(cache) ?? null);
  if (last !== null && (last.nodes === nodes || isSameList(last.nodes, nodes))) {
    if (last.index.matches.size > MATCH_LIMIT) last.index.matches.clear();
    if (cache !== undefined && last.nodes !== nodes) indexByCache.set(cache, { nodes, index: last.index });
    return last.index;
  }
  const index = buildIndex(nodes);
  if (cache !== undefined) indexByCache.set(cache, { nodes, index });
  return index;
}

function buildIndex(nodes: readonly NodeInput[]): HardwareIndex {
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
    matchingHardware: new Map(),
  };
}

function isSameList(before: readonly NodeInput[], now: readonly NodeInput[]): boolean {
  if (before.length !== now.length) return false;
  for (let index = 0; index < now.length; index += 1) {
    const one = before[index] as NodeInput;
    const other = now[index] as NodeInput;
    if (one === other) continue;
    if (!isSameHardware(one, other)) return false;
  }
  return true;
}

/** Numbers the distinct values in order; `first` is number 0 whether it occurs or not. */
function numbered<T extends string>(
  nodes: readonly NodeInput[],
  of: (node: NodeInput) => T,
  compare: (a: string, b: string) => number,
  first?: T,
): { values: readonly T[]; numbers: Int32Array } {
  const seen: T[] = first === undefined ? [] : [first];
  const seenAs = new Map(seen.map((value, at) => [value, at]));
  const numbers = new Int32Array(nodes.length);
  let last: T | undefined;
  let at = 0;
  for (let index = 0; index < nodes.length; index += 1) {
    const value = of(nodes[index] as NodeInput);
    // Neighbouring nodes mostly have the same value.
    if (value !== last) {
      last = value;
      at = seenAs.get(value) ?? seen.push(value) - 1;
      seenAs.set(value, at);
    }
    numbers[index] = at;
  }
  const isFirst = (value: T): number => Number(value === first);
  const values = [...seen].sort((a, b) => isFirst(b) - isFirst(a) || compare(a, b));
  const places = new Int32Array(seen.length);
  for (const [place, value] of values.entries()) places[seenAs.get(value) as number] = place;
  for (let index = 0; index < numbers.length; index += 1) numbers[index] = places[numbers[index] as number] as number;
  return { values, numbers };
}
