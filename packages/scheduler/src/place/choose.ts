// Step 3: choose how many nodes of which cells. As many as asked for in the fewest groups; among equally
// few groups all of one conformance value, the most common first; nodes that have drifted come last.
// Several groups are neighbours where that costs no group more. A range takes the most it can get; where
// the span is bounded, the most that so many groups hold. Knows nothing of time or of single nodes: the
// caller says how many nodes of each cell there are, and takes them.

import { ALIKE_LIMIT } from "../limits.ts";
import { adjacentGroups } from "./adjacent.ts";
import type { Ask, Floor, Part, Supply } from "./ask.ts";
import { fewestGroups, mostWithin } from "./groups.ts";
import { canPack, pack } from "./pack.ts";

export type { Ask, Part, Supply } from "./ask.ts";

/** Null when it does not fit. */
export function choose(floor: Floor, supply: Supply, ask: Ask): readonly Part[] | null {
  if (supply.total < ask.atLeast || ask.atLeast > ask.atMost || ask.forced.length > ask.maxGroups) return null;
  if (ask.packing !== null && canPack(ask)) return pack(floor, supply, ask, ask.packing);
  if (ask.alike) return chooseAlike(floor, supply, ask);
  const counts = tally(floor, supply);
  const sized = size(floor, counts, supply.total, ask);
  if (sized === null) return null;
  if (sized.count === 0) return [];
  for (const cells of ask.tiers) {
    const modest = only(supply, cells);
    const suffices = modest.total >= sized.count && fewestGroups(tally(floor, modest), ask.forced, sized.count);
    if (suffices && suffices.length <= sized.fewest) return prefer(floor, modest, ask, sized);
  }
  return prefer(floor, supply, ask, sized);
}

/** That many in so few groups: all alike if possible, else without drifted nodes, else any. */
function prefer(floor: Floor, supply: Supply, ask: Ask, sized: Sized): readonly Part[] | null {
  if (sized.count + ask.required > 1) {
    const alike = preferAlike(floor, supply, ask, sized);
    if (alike !== null) return alike;
  }
  const clean = supply.cells.filter((cell) => floor.cells.drifted[cell] === 0);
  return within(floor, only(supply, clean), ask, sized) ?? within(floor, supply, ask, sized);
}

interface Sized {
  readonly count: number;
  /** The fewest groups that hold so many. */
  readonly fewest: number;
}

/** How many nodes, and in how many groups. */
function size(floor: Floor, counts: Int32Array, total: number, ask: Ask): Sized | null {
  const { forced, atLeast } = ask;
  let count = Math.min(ask.atMost, total);
  if (ask.maxGroups < floor.groups.length || (ask.tight && count > atLeast)) {
    const fewest = fewestGroups(counts, forced, atLeast)?.length ?? Number.POSITIVE_INFINITY;
    if (fewest > ask.maxGroups) return null;
    if (count > atLeast) count = Math.min(count, mostWithin(counts, forced, ask.tight ? fewest : ask.maxGroups));
    if (count === atLeast) return { count, fewest };
  }
  const groups = fewestGroups(counts, forced, count);
  return groups === null ? null : { count, fewest: groups.length };
}

function pickGroups(floor: Floor, counts: Int32Array, ask: Ask, count: number): readonly number[] | null {
  const groups = fewestGroups(counts, ask.forced, count, ask.modest ? null : floor.congestion);
  if (groups === null || groups.length < 2 || ask.forced.length > 0 || ask.modest) return groups;
  return adjacentGroups(counts, count, groups.length) ?? groups;
}

function tally(floor: Floor, { cells, counts }: Supply): Int32Array {
  const groups = new Int32Array(floor.groups.length);
  const { groupOf } = floor.cells;
  for (let i = 0; i < cells.length; i += 1) {
    const cell = cells[i] as number;
    const group = groupOf[cell] as number;
    groups[group] = (groups[group] as number) + (counts[cell] as number);
  }
  return groups;
}

/** All of one conformance value in no more groups, or null. */
function preferAlike(floor: Floor, supply: Supply, ask: Ask, sized: Sized): readonly Part[] | null {
  for (const value of valuesThatSuffice(floor, supply, ask, sized.count)) {
    const alike = within(floor, onlyValue(floor, supply, value), ask, sized);
    if (alike !== null) return alike;
  }
  return null;
}

/** All of one conformance value, whatever the groups: fewest groups, then the most common value. */
function chooseAlike(floor: Floor, supply: Supply, ask: Ask): readonly Part[] | null {
  if (ask.atMost + ask.required <= 1) return choose(floor, supply, { ...ask, alike: false });
  let best: readonly Part[] | null = null;
  let fewest = Number.POSITIVE_INFINITY;
  for (const value of valuesThatSuffice(floor, supply, ask, ask.atLeast)) {
    const own = onlyValue(floor, supply, value);
    const counts = tally(floor, own);
    const sized = size(floor, counts, own.total, ask);
    if (sized === null || sized.fewest >= fewest) continue;
    const groups = pickGroups(floor, counts, ask, sized.count);
    if (groups === null) continue;
    best = take(floor, own, ask, { count: sized.count, groups });
    fewest = sized.fewest;
  }
  return best;
}

/** Known values with enough nodes, those that have not drifted first, then the most common. */
function valuesThatSuffice(floor: Floor, { cells, counts }: Supply, ask: Ask, need: number): number[] {
  if (floor.conformanceCount <= 1 || ask.forcedConformance.length > 1) return [];
  const totals = new Int32Array(floor.conformanceCount);
  const drifted = new Int32Array(floor.conformanceCount);
  for (let i = 0; i < cells.length; i += 1) {
    const cell = cells[i] as number;
    const value = floor.cells.conformanceOf[cell] as number;
    totals[value] = (totals[value] as number) + (counts[cell] as number);
    if (floor.cells.drifted[cell] === 1) drifted[value] = (drifted[value] as number) + (counts[cell] as number);
  }
  const values: number[] = [];
  const only = ask.forcedConformance[0];
  for (let value = 1; value < totals.length; value += 1) {
    if ((totals[value] as number) >= need && (only === undefined || only === value)) values.push(value);
  }
  const isDrifted = (value: number): number => (2 * (drifted[value] as number) > (totals[value] as number) ? 1 : 0);
  values.sort((a, b) => isDrifted(a) - isDrifted(b) || (totals[b] as number) - (totals[a] as number) || a - b);
  return values.slice(0, ALIKE_LIMIT);
}

/** The same choice out of fewer cells, or null when that takes more groups or does not suffice. */
function within(floor: Floor, supply: Supply, ask: Ask, sized: Sized): readonly Part[] | null {
  if (supply.total < sized.count) return null;
  const groups = pickGroups(floor, tally(floor, supply), ask, sized.count);
  if (groups === null || groups.length > sized.fewest) return null;
  return take(floor, supply, ask, { count: sized.count, groups });
}

function onlyValue(floor: Floor, supply: Supply, value: number): Supply {
  const { conformanceOf } = floor.cells;
  return only(
    supply,
    supply.cells.filter((cell) => conformanceOf[cell] === value),
  );
}

function only({ counts }: Supply, cells: Int32Array): Supply {
  let total = 0;
  for (let i = 0; i < cells.length; i += 1) total += counts[cells[i] as number] as number;
  return { cells, counts, total };
}

interface Taking {
  readonly count: number;
  readonly groups: readonly number[];
}

/** Undrifted first, then the commonest conformance, then the better kind, then group by group. */
function take(floor: Floor, { cells, counts }: Supply, ask: Ask, { count, groups }: Taking): readonly Part[] {
  const { groupOf, conformanceOf, drifted, kindOf } = floor.cells;
  const position = new Int32Array(floor.groups.length).fill(-1);
  for (const [at, group] of groups.entries()) position[group] = at;
  const usable: number[] = [];
  const common = new Int32Array(floor.conformanceCount);
  for (let i = 0; i < cells.length; i += 1) {
    const cell = cells[i] as number;
    const there = counts[cell] as number;
    if (there === 0 || (position[groupOf[cell] as number] as number) < 0) continue;
    usable.push(cell);
    const value = conformanceOf[cell] as number;
    if (value > 0) common[value] = (common[value] as number) + there;
  }
  const commonness = (cell: number): number => common[conformanceOf[cell] as number] as number;
  const merit = (cell: number): number => ask.kindMerit?.[kindOf[cell] as number] ?? 0;
  usable.sort(
    (a, b) =>
      (drifted[a] as number) - (drifted[b] as number) ||
      commonness(b) - commonness(a) ||
      (conformanceOf[b] as number) - (conformanceOf[a] as number) ||
      merit(b) - merit(a) ||
      (position[groupOf[a] as number] as number) - (position[groupOf[b] as number] as number) ||
      a - b,
  );
  const picks: Part[] = [];
  let missing = count;
  for (const cell of usable) {
    if (missing === 0) break;
    const taken = Math.min(missing, counts[cell] as number);
    picks.push({ cell, count: taken });
    missing -= taken;
  }
  return picks;
}
