// Step 3: place. Out of the available nodes choose as many as asked for in the fewest groups; among
// equally few groups prefer nodes of one conformance value, the most common known one first. Required
// nodes are always part of it. A range takes the most it can get; `tight` takes the most that needs
// no more groups than its minimum does. Knows nothing of time: the caller says what is available.

import { fewestGroups } from "./groups.ts";
import type { Machine } from "./machine.ts";

export interface Wanted {
  readonly atLeast: number;
  readonly atMost: number;
  readonly tight: boolean;
  readonly required: readonly number[];
}

type Floor = Pick<Machine, "groups" | "groupOf" | "conformanceOf" | "conformanceCount">;

/** Node numbers, ascending; null when it does not fit. `available` is in order of preference. */
export function place(floor: Floor, available: readonly number[], wanted: Wanted): readonly number[] | null {
  const least = Math.max(wanted.atLeast, wanted.required.length);
  if (available.length < least || least > wanted.atMost) return null;
  if (!containsAll(available, wanted.required)) return null;

  const counts = countGroups(floor, available);
  const forced = [...new Set(wanted.required.map((node) => floor.groupOf[node] ?? 0))].sort((a, b) => a - b);
  const count = Math.min(wanted.atMost, wanted.tight ? mostWithin(counts, forced, least) : available.length);
  const groups = fewestGroups(counts, forced, count);
  if (groups === null) return null;

  const alike =
    count === 1 ? null : oneConformance(floor, available, { ...wanted, count, forced, groups: groups.length });
  const chosen = alike ?? take(floor, { available, groups, count, required: wanted.required });
  return chosen.sort((a, b) => a - b);
}

function containsAll(available: readonly number[], required: readonly number[]): boolean {
  if (required.length === 0) return true;
  const there = new Set(available);
  return required.every((node) => there.has(node));
}

function countGroups(floor: Floor, available: readonly number[]): Int32Array {
  const counts = new Int32Array(floor.groups.length);
  for (const node of available) {
    const group = floor.groupOf[node] ?? 0;
    counts[group] = (counts[group] ?? 0) + 1;
  }
  return counts;
}

/** The most nodes that as few groups hold as `least` nodes need. */
function mostWithin(counts: Int32Array, forced: readonly number[], least: number): number {
  const allowed = fewestGroups(counts, forced, least)?.length ?? 0;
  const others = [...counts.keys()].filter((group) => !forced.includes(group)).map((group) => counts[group] ?? 0);
  const largest = others.sort((a, b) => b - a).slice(0, allowed - forced.length);
  const within = forced.map((group) => counts[group] ?? 0).concat(largest);
  return within.reduce((sum, count) => sum + count, 0);
}

interface Sized {
  readonly count: number;
  readonly required: readonly number[];
  readonly forced: readonly number[];
  /** How many groups may be used at most. */
  readonly groups: number;
}

/** All of one conformance value in no more groups, or null. */
function oneConformance(floor: Floor, available: readonly number[], sized: Sized): number[] | null {
  if (floor.conformanceCount <= 1) return null;
  const byValue: number[][] = Array.from({ length: floor.conformanceCount }, () => []);
  for (const node of available) byValue[floor.conformanceOf[node] ?? 0]?.push(node);
  const values = [...byValue.keys()]
    .filter((value) => value > 0 && (byValue[value]?.length ?? 0) >= sized.count)
    .sort((a, b) => (byValue[b]?.length ?? 0) - (byValue[a]?.length ?? 0) || a - b);
  for (const value of values) {
    const alike = byValue[value] ?? [];
    if (sized.required.some((node) => floor.conformanceOf[node] !== value)) continue;
    const groups = fewestGroups(countGroups(floor, alike), sized.forced, sized.count);
    if (groups === null || groups.length > sized.groups) continue;
    return take(floor, { available: alike, groups, count: sized.count, required: sized.required });
  }
  return null;
}

interface Taking {
  readonly available: readonly number[];
  readonly groups: readonly number[];
  readonly count: number;
  readonly required: readonly number[];
}

/** Required nodes, then the commonest conformance, then group by group in order of preference. */
function take(floor: Floor, { available, groups, count, required }: Taking): number[] {
  const position = new Map(groups.map((group, at) => [group, at]));
  const rest = available.filter((node) => position.has(floor.groupOf[node] ?? 0) && !required.includes(node));
  const wanted = count - required.length;
  if (groups.length === 1 && floor.conformanceCount <= 1) return [...required, ...rest.slice(0, wanted)];
  const common = new Int32Array(floor.conformanceCount);
  for (const node of rest) {
    const value = floor.conformanceOf[node] ?? 0;
    if (value > 0) common[value] = (common[value] ?? 0) + 1;
  }
  const commonness = (node: number): number => common[floor.conformanceOf[node] ?? 0] ?? 0;
  const conformance = (node: number): number => floor.conformanceOf[node] ?? 0;
  const group = (node: number): number => position.get(floor.groupOf[node] ?? 0) ?? 0;
  // Stable: nodes alike in all three stay in the caller's order of preference.
  rest.sort((a, b) => commonness(b) - commonness(a) || conformance(b) - conformance(a) || group(a) - group(b));
  return [...required, ...rest.slice(0, wanted)];
}
