// The choice of GPUs on a node: the set with the fastest slowest link, then the most NICs, then the lowest numbers.

import { chooseGpus, type GpuTopology } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

type Link = readonly [a: number, b: number, bandwidthMBps: number];

const topology = (count: number, links: readonly Link[], nics: Readonly<Record<string, string>> = {}): GpuTopology => ({
  gpus: Array.from({ length: count }, (_, index) => ({
    index,
    vendor: "nvidia",
    model: "H100",
    memoryBytes: 80,
    partitioned: false,
  })),
  links: links.map(([a, b, bandwidthMBps]) => ({ a, b, kind: "nvlink", bandwidthMBps })),
  nicAffinity: nics,
});

/** Two islands of two GPUs each, with slow links between them. */
const ISLANDS = topology(4, [
  [0, 1, 100],
  [2, 3, 300],
  [0, 2, 10],
  [0, 3, 10],
  [1, 2, 10],
  [1, 3, 10],
]);

describe("the choice of GPUs", () => {
  it.each([
    [1, undefined, [0], Number.POSITIVE_INFINITY],
    [2, undefined, [2, 3], 300],
    [2, [0, 1, 2], [0, 1], 100],
    [2, [1, 3], [1, 3], 10],
    [3, undefined, [0, 1, 2], 10],
    [4, undefined, [0, 1, 2, 3], 10],
  ] as const)("of %i among %j is %j", (count, free, gpus, worstMBps) => {
    const choice = chooseGpus(ISLANDS, count, free === undefined ? undefined : new Set(free));
    expect(choice).toEqual({ gpus, worstMBps });
  });

  it.each([
    [0, undefined],
    [-1, undefined],
    [5, undefined],
    [2, [3]],
    [1, []],
    [1, [9]],
  ] as const)("of %i among %j is impossible", (count, free) => {
    expect(chooseGpus(ISLANDS, count, free === undefined ? undefined : new Set(free))).toBeNull();
  });

  it("prefers distinct NICs among sets with equal links", () => {
    const flat = topology(4, [], { 0: "nic0", 1: "nic0", 2: "nic1", 3: "nic1" });
    expect(chooseGpus(flat, 2)?.gpus).toEqual([0, 2]);
    expect(chooseGpus(topology(4, [], { 3: "nic1" }), 1)?.gpus).toEqual([3]);
  });

  it("prefers a faster link to another NIC", () => {
    const links: readonly Link[] = [[0, 1, 5]];
    expect(chooseGpus(topology(3, links, { 0: "a", 1: "a", 2: "b" }), 2)?.gpus).toEqual([0, 1]);
  });

  it("uses the faster of parallel links, in either direction", () => {
    const links: readonly Link[] = [
      [0, 1, 50],
      [1, 0, 200],
      [1, 2, 100],
    ];
    expect(chooseGpus(topology(3, links), 2)).toEqual({ gpus: [0, 1], worstMBps: 200 });
  });

  it("does not depend on the order in which the agent lists GPUs", () => {
    const reversed = { ...ISLANDS, gpus: ISLANDS.gpus.toReversed(), links: ISLANDS.links.toReversed() };
    for (const count of [1, 2, 3, 4]) expect(chooseGpus(reversed, count)).toEqual(chooseGpus(ISLANDS, count));
  });

  it("is the best of all sets on any topology", () => {
    const pairs: readonly Link[] = [0, 1, 2, 3, 4, 5].flatMap((a) =>
      [0, 1, 2, 3, 4, 5].flatMap((b) => (a < b ? [[a, b, 0] as const] : [])),
    );
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 4 }), { minLength: pairs.length, maxLength: pairs.length }),
        fc.integer({ min: 1, max: 6 }),
        fc.array(fc.constantFrom("x", "y", ""), { minLength: 6, maxLength: 6 }),
        (speeds, count, nics) => {
          const links = pairs.map(([a, b], n): Link => [a, b, speeds[n] ?? 0]);
          const affinity = Object.fromEntries(nics.flatMap((nic, gpu) => (nic === "" ? [] : [[gpu, nic]])));
          const node = topology(6, links, affinity);
          const chosen = chooseGpus(node, count);
          expect(chosen).toEqual(bestByForce(links, affinity, count));
        },
      ),
      { numRuns: 200 },
    );
  });

  it("is in ascending order, also where the set was grown in another", () => {
    const island = Array.from({ length: 8 }, (_, n) => 8 * n);
    const links = island.flatMap((a) => island.flatMap((b): Link[] => (a < b ? [[a, b, 50]] : [])));
    // 41,664 sets of three are too many to compare. The growth from 0 takes 40 first, then 8.
    expect(chooseGpus(topology(64, [...links, [40, 0, 100]]), 3)).toEqual({ gpus: [0, 8, 40], worstMBps: 50 });
  });

  it("of half of 32 GPUs stays within one fast island", () => {
    const links: Link[] = [];
    for (let a = 0; a < 32; a += 1) {
      for (let b = a + 1; b < 32; b += 1) links.push([a, b, a % 2 === b % 2 ? 900 : 50]);
    }
    const choice = chooseGpus(topology(32, links), 16);
    expect(choice).toEqual({ gpus: Array.from({ length: 16 }, (_, n) => 2 * n), worstMBps: 900 });
  });
});

function bestByForce(links: readonly Link[], nics: Readonly<Record<string, string>>, count: number) {
  const speed = (a: number, b: number): number =>
    links.find(([x, y]) => (x === a && y === b) || (x === b && y === a))?.[2] ?? 0;
  let best: { readonly gpus: readonly number[]; readonly worstMBps: number } | null = null;
  let bestNics = -1;
  for (const set of subsets([0, 1, 2, 3, 4, 5], count)) {
    const worstMBps = Math.min(Infinity, ...set.flatMap((a, i) => set.slice(i + 1).map((b) => speed(a, b))));
    const near = new Set(set.flatMap((gpu) => nics[gpu] ?? [])).size;
    const better = best === null || worstMBps > best.worstMBps || (worstMBps === best.worstMBps && near > bestNics);
    if (!better) continue;
    best = { gpus: set, worstMBps };
    bestNics = near;
  }
  return best;
}

/** In lexical order, so that the first of equals has the lowest numbers. */
function subsets(items: readonly number[], count: number): readonly (readonly number[])[] {
  if (count === 0) return [[]];
  return items.flatMap((first, n) => subsets(items.slice(n + 1), count - 1).map((rest) => [first, ...rest]));
}
