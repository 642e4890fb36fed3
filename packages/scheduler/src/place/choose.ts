// Chooses how many nodes of which cells: as many as requested in the fewest groups; among equally few groups all of one
// conformance value, the most common first; drifted nodes last. Several groups are adjacent where that costs no further
// group. A range takes as many nodes as possible within its limit of groups. Knows nothing of time or single nodes: the
// caller counts the available nodes of each cell, and takes them.

import { CONFORMANCE_LIMIT } from "../base/bounds.ts";
import { fewestGroups, mostNodesWithin } from "../machine/groups.ts";
import { adjacentGroups } from "./adjacent.ts";
import type { CellCount, ChoiceContext, NodeRequest, Supply } from "./node-request.ts";
import { pack } from "./pack.ts";

/** Returns the cells to take, or `null` when the request does not fit. */
export function choose(context: ChoiceContext, supply: Supply, request: NodeRequest): readonly CellCount[] | null {
  if (
    supply.total < request.atLeast ||
    request.atLeast > request.atMost ||
    request.requiredGroups.length > request.maxGroups
  )
    return null;
  if (request.kindRanks !== null && request.isUnarranged) return pack(context, supply, request, request.kindRanks);
  if (request.sameConformance) return chooseOneConformance(context, supply, request);
  const counts = countByGroup(context, supply);
  const size = findSize(context, counts, supply.total, request);
  if (size === null) return null;
  if (size.count === 0) return [];
  for (const cells of request.tiers) {
    const cheaper = only(supply, cells);
    const suffices =
      cheaper.total >= size.count && fewestGroups(countByGroup(context, cheaper), request.requiredGroups, size.count);
    if (suffices && suffices.length <= size.groups) return prefer(context, cheaper, request, size);
  }
  return prefer(context, supply, request, size);
}

/** All of one conformance if possible, else without drifted nodes, else any. */
function prefer(context: ChoiceContext, supply: Supply, request: NodeRequest, size: Size): readonly CellCount[] | null {
  if (size.count + request.required > 1) {
    const uniform = preferOneConformance(context, supply, request, size);
    if (uniform !== null) return uniform;
  }
  const clean = supply.cells.filter((cell) => context.cells.drifted[cell] === 0);
  return within(context, only(supply, clean), request, size) ?? within(context, supply, request, size);
}

interface Size {
  readonly count: number;
  /** The fewest groups that hold this many nodes. */
  readonly groups: number;
}

/** How many nodes, and in how many groups. */
function findSize(context: ChoiceContext, counts: Int32Array, total: number, request: NodeRequest): Size | null {
  const { requiredGroups, atLeast } = request;
  let count = Math.min(request.atMost, total);
  if (request.maxGroups < context.groups.length || (request.tight && count > atLeast)) {
    const fewest = fewestGroups(counts, requiredGroups, atLeast)?.length ?? Number.POSITIVE_INFINITY;
    if (fewest > request.maxGroups) return null;
    if (count > atLeast)
      count = Math.min(count, mostNodesWithin(counts, requiredGroups, request.tight ? fewest : request.maxGroups));
    if (count === atLeast) return { count, groups: fewest };
  }
  const groups = fewestGroups(counts, requiredGroups, count);
  return groups === null ? null : { count, groups: groups.length };
}

function pickGroups(
  context: ChoiceContext,
  counts: Int32Array,
  request: NodeRequest,
  count: number,
): readonly number[] | null {
  const groups = fewestGroups(counts, request.requiredGroups, count, request.isInefficient ? null : context.congestion);
  if (groups === null || groups.length < 2 || request.requiredGroups.length > 0 || request.isInefficient) return groups;
  return adjacentGroups(counts, count, groups.length) ?? groups;
}

function countByGroup(context: ChoiceContext, { cells, counts }: Supply): Int32Array {
  const groups = new Int32Array(context.groups.length);
  const { groupOf } = context.cells;
  for (let i = 0; i < cells.length; i += 1) {
    const cell = cells[i] as number;
    const group = groupOf[cell] as number;
    groups[group] = (groups[group] as number) + (counts[cell] as number);
  }
  return groups;
}

/** All of one conformance value in no more groups, or `null`. */
function preferOneConformance(
  context: ChoiceContext,
  supply: Supply,
  request: NodeRequest,
  size: Size,
): readonly CellCount[] | null {
  for (const value of sufficientConformances(context, supply, request, size.count)) {
    const uniform = within(context, onlyConformance(context, supply, value), request, size);
    if (uniform !== null) return uniform;
  }
  return null;
}

/** All of one conformance value: the fewest groups, then the most common value. One node alone needs no known value. */
function chooseOneConformance(
  context: ChoiceContext,
  supply: Supply,
  request: NodeRequest,
): readonly CellCount[] | null {
  const several = request.atMost + request.required > 1 ? chooseSeveralAlike(context, supply, request) : null;
  if (several !== null || request.atLeast + request.required > 1) return several;
  const atMost = Math.min(request.atMost, 1 - request.required);
  return choose(context, supply, { ...request, atMost, sameConformance: false });
}

function chooseSeveralAlike(context: ChoiceContext, supply: Supply, request: NodeRequest): readonly CellCount[] | null {
  let best: readonly CellCount[] | null = null;
  let fewest = Number.POSITIVE_INFINITY;
  for (const value of sufficientConformances(context, supply, request, request.atLeast)) {
    const own = onlyConformance(context, supply, value);
    const counts = countByGroup(context, own);
    const size = findSize(context, counts, own.total, request);
    if (size === null || size.groups >= fewest) continue;
    const groups = pickGroups(context, counts, request, size.count);
    if (groups === null) continue;
    best = takeCells(context, own, request, { count: size.count, groups });
    fewest = size.groups;
  }
  return best;
}

/** Known values with enough nodes, the ones that have not drifted first, then the most common. */
function sufficientConformances(
  context: ChoiceContext,
  { cells, counts }: Supply,
  request: NodeRequest,
  need: number,
): number[] {
  if (context.conformanceCount <= 1 || request.requiredConformance.length > 1) return [];
  const totals = new Int32Array(context.conformanceCount);
  const drifted = new Int32Array(context.conformanceCount);
  for (let i = 0; i < cells.length; i += 1) {
    const cell = cells[i] as number;
    const value = context.cells.conformanceOf[cell] as number;
    totals[value] = (totals[value] as number) + (counts[cell] as number);
    if (context.cells.drifted[cell] === 1) drifted[value] = (drifted[value] as number) + (counts[cell] as number);
  }
  const values: number[] = [];
  const restrictTo = request.requiredConformance[0];
  for (let value = 1; value < totals.length; value += 1) {
    if ((totals[value] as number) >= need && (restrictTo === undefined || restrictTo === value)) values.push(value);
  }
  const isDrifted = (value: number): number => (2 * (drifted[value] as number) > (totals[value] as number) ? 1 : 0);
  values.sort((a, b) => isDrifted(a) - isDrifted(b) || (totals[b] as number) - (totals[a] as number) || a - b);
  return values.slice(0, CONFORMANCE_LIMIT);
}

/** The same choice out of fewer cells; `null` when that takes more groups or does not suffice. */
function within(context: ChoiceContext, supply: Supply, request: NodeRequest, size: Size): readonly CellCount[] | null {
  if (supply.total < size.count) return null;
  const groups = pickGroups(context, countByGroup(context, supply), request, size.count);
  if (groups === null || groups.length > size.groups) return null;
  return takeCells(context, supply, request, { count: size.count, groups });
}

function onlyConformance(context: ChoiceContext, supply: Supply, value: number): Supply {
  const { conformanceOf } = context.cells;
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

interface Selection {
  readonly count: number;
  readonly groups: readonly number[];
}

/** Not drifted first, then the most common conformance, then the better kind, then group by group. */
function takeCells(
  context: ChoiceContext,
  { cells, counts }: Supply,
  request: NodeRequest,
  { count, groups }: Selection,
): readonly CellCount[] {
  const { groupOf, conformanceOf, drifted, kindOf } = context.cells;
  const position = new Int32Array(context.groups.length).fill(-1);
  for (const [at, group] of groups.entries()) position[group] = at;
  const usable: number[] = [];
  const common = new Int32Array(context.conformanceCount);
  for (let i = 0; i < cells.length; i += 1) {
    const cell = cells[i] as number;
    const there = counts[cell] as number;
    if (there === 0 || (position[groupOf[cell] as number] as number) < 0) continue;
    usable.push(cell);
    const value = conformanceOf[cell] as number;
    if (value > 0) common[value] = (common[value] as number) + there;
  }
  const commonness = (cell: number): number => common[conformanceOf[cell] as number] as number;
  const merit = (cell: number): number => request.kindMerit?.[kindOf[cell] as number] ?? 0;
  usable.sort(
    (a, b) =>
      (drifted[a] as number) - (drifted[b] as number) ||
      commonness(b) - commonness(a) ||
      (conformanceOf[b] as number) - (conformanceOf[a] as number) ||
      merit(b) - merit(a) ||
      (position[groupOf[a] as number] as number) - (position[groupOf[b] as number] as number) ||
      a - b,
  );
  const picks: CellCount[] = [];
  let missing = count;
  for (const cell of usable) {
    if (missing === 0) break;
    const taken = Math.min(missing, counts[cell] as number);
    picks.push({ cell, count: taken });
    missing -= taken;
  }
  return picks;
}
