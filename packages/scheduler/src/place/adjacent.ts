// Adjacent groups for allocations that need several: of all runs of consecutive groups, the one that suffices with the
// fewest spare nodes; otherwise the best groups out of a run twice as long. Never more groups than given.

import { largestFirst } from "../machine/groups.ts";

/** Returns this many group numbers, or `null` when no run suffices. */
export function adjacentGroups(counts: Int32Array, need: number, groups: number): number[] | null {
  return inRow(counts, need, groups) ?? nearby(counts, need, groups);
}

function inRow(counts: Int32Array, need: number, groups: number): number[] | null {
  let best = -1;
  let bestSum = Number.POSITIVE_INFINITY;
  let sum = 0;
  for (let end = 0; end < counts.length; end += 1) {
    sum += counts[end] as number;
    if (end >= groups) sum -= counts[end - groups] as number;
    if (end < groups - 1 || sum < need || sum >= bestSum) continue;
    best = end - groups + 1;
    bestSum = sum;
  }
  return best < 0 ? null : Array.from({ length: groups }, (_, i) => best + i);
}

function nearby(counts: Int32Array, need: number, groups: number): number[] | null {
  const width = 2 * groups;
  const none = new Uint8Array(width);
  for (let first = 0; first + width <= counts.length; first += groups) {
    const chosen: number[] = [];
    let sum = 0;
    for (const at of largestFirst(counts.subarray(first, first + width), none)) {
      if (chosen.length === groups) break;
      chosen.push(first + at);
      sum += counts[first + at] as number;
    }
    if (sum >= need) return chosen.sort((a, b) => a - b);
  }
  return null;
}
