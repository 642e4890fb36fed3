// The fewest groups that hold a number of nodes. Taking the largest groups first gives the fewest groups; the last
// group is the smallest that suffices, which keeps large groups whole. Required groups come first. Among equal groups
// the least congested wins, where congestion is known.

/** Returns group numbers, or `null` when all groups together do not suffice. */
export function fewestGroups(
  counts: Int32Array,
  forced: readonly number[],
  need: number,
  congestion: Float64Array | null = null,
): number[] | null {
  let missing = need;
  for (const group of forced) missing -= counts[group] ?? 0;
  if (missing <= 0) return [...forced];
  const taken = new Uint8Array(counts.length);
  for (const group of forced) taken[group] = 1;
  const single = bestSufficient(counts, taken, missing, congestion);
  if (single >= 0) return [...forced, single];
  const chosen = [...forced];
  for (const group of largestFirst(counts, taken)) {
    const count = counts[group] as number;
    if (count === 0) return null;
    if (count >= missing) return [...chosen, bestSufficient(counts, taken, missing, congestion)];
    chosen.push(group);
    taken[group] = 1;
    missing -= count;
  }
  return null;
}

/** Returns the most nodes that this many groups hold, the required ones included. */
export function mostNodesWithin(counts: Int32Array, forced: readonly number[], groups: number): number {
  const taken = new Uint8Array(counts.length);
  let total = 0;
  for (const group of forced) {
    total += counts[group] ?? 0;
    taken[group] = 1;
  }
  let left = groups - forced.length;
  if (left >= counts.length) return counts.reduce((sum, count) => sum + count, 0);
  for (const group of left > 0 ? largestFirst(counts, taken) : []) {
    if (left === 0) break;
    total += counts[group] as number;
    left -= 1;
  }
  return total;
}

/**
 * Returns the nodes in the one, two, three, ... largest groups, ascending: the groups that a request needs are found by
 * search.
 */
export function levelsOf(counts: Int32Array): Float64Array {
  const sorted = Float64Array.from(counts.filter((count) => count > 0)).sort((a, b) => b - a);
  for (let at = 1; at < sorted.length; at += 1) sorted[at] = (sorted[at] as number) + (sorted[at - 1] as number);
  return sorted;
}

/** Returns `null` when all groups together do not suffice. */
export function groupsFor(levels: Float64Array, nodes: number): number | null {
  let low = 0;
  let high = levels.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((levels[middle] as number) < nodes) low = middle + 1;
    else high = middle;
  }
  return low === levels.length ? null : low + 1;
}

/** Prefers the least congested, in tenths, then the smallest that suffices. */
function bestSufficient(counts: Int32Array, taken: Uint8Array, need: number, congestion: Float64Array | null): number {
  let best = -1;
  let bestCount = Number.POSITIVE_INFINITY;
  let bestLoad = Number.POSITIVE_INFINITY;
  for (let group = 0; group < counts.length; group += 1) {
    const count = counts[group] as number;
    if (count < need || taken[group] === 1) continue;
    const load = congestion === null ? 0 : Math.round((congestion[group] as number) * 10);
    if (load > bestLoad || (load === bestLoad && count >= bestCount)) continue;
    best = group;
    bestCount = count;
    bestLoad = load;
  }
  return best;
}

/** Yields the groups not taken, largest first, then by number. From a heap, since callers mostly need a few of many. */
export function* largestFirst(counts: Int32Array, taken: Uint8Array): Generator<number> {
  const heap: number[] = [];
  for (let group = 0; group < counts.length; group += 1) if (taken[group] === 0) heap.push(group);
  const goesFirst = (a: number, b: number): boolean => {
    const difference = (counts[a] as number) - (counts[b] as number);
    return difference > 0 || (difference === 0 && a < b);
  };
  const siftDown = (start: number): void => {
    const moving = heap[start] as number;
    let at = start;
    for (let child = 2 * at + 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && goesFirst(heap[child + 1] as number, heap[child] as number)) child += 1;
      const larger = heap[child] as number;
      if (!goesFirst(larger, moving)) break;
      heap[at] = larger;
      at = child;
    }
    heap[at] = moving;
  };
  for (let at = (heap.length >> 1) - 1; at >= 0; at -= 1) siftDown(at);
  while (heap.length > 0) {
    yield heap[0] as number;
    const last = heap.pop() as number;
    if (heap.length === 0) return;
    heap[0] = last;
    siftDown(0);
  }
}

/** Returns the distinct numbers of these nodes, ascending; `ofNode` is `groupOf` or `conformanceOf` of a machine. */
export const distinctNumbers = (ofNode: Int32Array, nodes: readonly number[]): number[] =>
  [...new Set(nodes.map((node) => ofNode[node] as number))].sort((a, b) => a - b);
