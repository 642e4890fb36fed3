// Groups: their natural order, the fewest that hold a number of nodes, and the most nodes within a number of groups.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inNaturalOrder } from "../../src/machine/group-order.ts";
import {
  distinctNumbers,
  fewestGroups,
  groupsFor,
  largestFirst,
  levelsOf,
  mostNodesWithin,
} from "../../src/machine/groups.ts";

const someCounts = fc.array(fc.nat(6), { minLength: 1, maxLength: 6 });
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** Every set of groups that contains the forced ones. */
function setsOf(count: number, forced: readonly number[]): number[][] {
  const sets: number[][] = [];
  for (let set = 0; set < 1 << count; set += 1) {
    const members = Array.from({ length: count }, (_, group) => group).filter((group) => (set >> group) & 1);
    if (forced.every((group) => members.includes(group))) sets.push(members);
  }
  return sets;
}

describe("the natural order of groups", () => {
  it.each([
    [["g10", "g9", "g1"], "g1 g9 g10"],
    [["rack2-b", "rack2-a", "rack10-a"], "rack2-a rack2-b rack10-a"],
    [["x1y10", "x1y9", "x1"], "x1 x1y9 x1y10"],
    [["b", "a", "B"], "B a b"],
    [["01", "1", "001"], "001 01 1"],
    [["g", "", "1"], " 1 g"],
  ])("sorts %j", (names, expected) => {
    expect([...names].sort(inNaturalOrder).join(" ")).toBe(expected);
  });

  it("is total: two names are equal only if they are the same", () => {
    const name = fc.stringMatching(/^[a-c0-2]{0,4}$/);
    fc.assert(
      fc.property(name, name, name, (a, b, c) => {
        expect(inNaturalOrder(a, b) === 0).toBe(a === b);
        expect(Math.sign(inNaturalOrder(a, b))).toBe(Math.sign(-inNaturalOrder(b, a)) + 0);
        if (inNaturalOrder(a, b) < 0 && inNaturalOrder(b, c) < 0) expect(inNaturalOrder(a, c)).toBeLessThan(0);
      }),
      { numRuns: 300 },
    );
  });
});

describe("fewest groups", () => {
  it("are as few as any set that suffices, with the forced ones among them", () => {
    fc.assert(
      fc.property(someCounts, fc.integer({ min: 0, max: 20 }), fc.uniqueArray(fc.nat(5)), (counts, need, picks) => {
        const forced = picks.filter((group) => group < counts.length).slice(0, 2);
        const total = (groups: readonly number[]): number => sum(groups.map((group) => counts[group] as number));
        const sufficient = setsOf(counts.length, forced).filter((set) => total(set) >= need);
        const found = fewestGroups(Int32Array.from(counts), forced, need);
        expect(found === null).toBe(sufficient.length === 0);
        if (found === null) return;
        expect(new Set(found).size).toBe(found.length);
        expect(forced.every((group) => found.includes(group))).toBe(true);
        expect(total(found)).toBeGreaterThanOrEqual(need);
        expect(found.length).toBe(Math.min(...sufficient.map((set) => set.length)));
      }),
      { numRuns: 400 },
    );
  });

  it.each([
    { name: "the quieter of equal groups", counts: [4, 4], load: [0.5, 0.1], need: 3, expected: [1] },
    { name: "a quiet large group before a busy small one", counts: [3, 9], load: [0.9, 0], need: 3, expected: [1] },
    {
      name: "the smaller group where loads differ by less than a tenth",
      counts: [9, 4],
      load: [0.1, 0.14],
      need: 3,
      expected: [1],
    },
    { name: "the quieter group for the remainder", counts: [9, 4, 4], load: [0, 0.8, 0], need: 11, expected: [0, 2] },
    { name: "one busy group before two quiet ones", counts: [5, 3, 3], load: [1, 0, 0], need: 5, expected: [0] },
  ])("with congestion are $name", ({ counts, load, need, expected }) => {
    expect(fewestGroups(Int32Array.from(counts), [], need, Float64Array.from(load))).toEqual(expected);
  });
});

describe("levels", () => {
  it("add up the largest groups, without empty ones", () => {
    expect([...levelsOf(Int32Array.of(2, 0, 5, 3))]).toEqual([5, 8, 10]);
    expect([...levelsOf(Int32Array.of(0, 0))]).toEqual([]);
  });

  it.each([
    [1, 1],
    [5, 1],
    [6, 2],
    [8, 2],
    [10, 3],
    [11, null],
  ])("say that %i nodes need %s groups", (nodes, expected) => {
    expect(groupsFor(Float64Array.of(5, 8, 10), nodes)).toBe(expected);
  });

  it("agree with the fewest groups", () => {
    fc.assert(
      fc.property(someCounts, fc.integer({ min: 1, max: 30 }), (counts, need) => {
        const all = Int32Array.from(counts);
        expect(groupsFor(levelsOf(all), need)).toBe(fewestGroups(all, [], need)?.length ?? null);
      }),
      { numRuns: 300 },
    );
  });
});

describe("the most nodes within a number of groups", () => {
  it("are those of the best set of that size, the forced groups included", () => {
    fc.assert(
      fc.property(someCounts, fc.nat(7), fc.uniqueArray(fc.nat(5)), (counts, extra, picks) => {
        const forced = picks.filter((group) => group < counts.length).slice(0, 2);
        const groups = forced.length + extra;
        const best = setsOf(counts.length, forced).filter((set) => set.length <= groups);
        const expected = Math.max(...best.map((set) => sum(set.map((group) => counts[group] as number))));
        expect(mostNodesWithin(Int32Array.from(counts), forced, groups)).toBe(expected);
      }),
      { numRuns: 400 },
    );
  });
});

describe("groups by size", () => {
  it("are ordered largest first, then by number, without the used ones", () => {
    fc.assert(
      fc.property(someCounts, fc.uniqueArray(fc.nat(5)), (counts, picks) => {
        const taken = Uint8Array.from(counts, (_, group) => Number(picks.includes(group)));
        const expected = [...counts.keys()]
          .filter((group) => taken[group] === 0)
          .sort((a, b) => (counts[b] as number) - (counts[a] as number) || a - b);
        expect([...largestFirst(Int32Array.from(counts), taken)]).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  it("are listed once each, ascending", () => {
    expect(distinctNumbers(Int32Array.of(7, 3, 7, 1), [2, 0, 1, 1])).toEqual([3, 7]);
    expect(distinctNumbers(Int32Array.of(7), [])).toEqual([]);
  });
});
