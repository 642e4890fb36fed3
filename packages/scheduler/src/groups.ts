// The fewest groups that hold a number of nodes. Taking the largest groups first is optimal for the
// number of groups; the last one taken is then the smallest that suffices, which keeps large groups
// whole for large allocations. Groups that must be part of it come first.

/** Group numbers, or null when even all groups together do not suffice. */
export function fewestGroups(counts: Int32Array, forced: readonly number[], need: number): number[] | null {
  const chosen = [...forced];
  let missing = need;
  for (const group of forced) missing -= counts[group] ?? 0;
  if (missing <= 0) return chosen;
  const single = smallestSufficient(counts, chosen, missing);
  if (single >= 0) return [...chosen, single];
  for (const group of largestFirst(counts, forced)) {
    if ((counts[group] ?? 0) === 0) return null;
    chosen.push(group);
    missing -= counts[group] ?? 0;
    const last = smallestSufficient(counts, chosen, missing);
    if (last >= 0) return [...chosen, last];
  }
  return null;
}

function smallestSufficient(counts: Int32Array, taken: readonly number[], need: number): number {
  let best = -1;
  let bestCount = Number.POSITIVE_INFINITY;
  for (let group = 0; group < counts.length; group += 1) {
    const count = counts[group] ?? 0;
    if (count < need || count >= bestCount || taken.includes(group)) continue;
    best = group;
    bestCount = count;
  }
  return best;
}

function largestFirst(counts: Int32Array, except: readonly number[]): number[] {
  const groups: number[] = [];
  for (let group = 0; group < counts.length; group += 1) if (!except.includes(group)) groups.push(group);
  return groups.sort((a, b) => (counts[b] ?? 0) - (counts[a] ?? 0) || a - b);
}
