// The choice of victims: lowest classes first, one before several, and no victim that is not needed.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findVictims, largest, type VictimGain } from "../../src/preempt/victim-set.ts";
import { running } from "./make.ts";

/** A candidate of this class that frees this many nodes; in the order of the list. */
const gain = (id: number, preemptionClass: number, gained: number): VictimGain => ({
  victim: running(id, ["a"], { class: preemptionClass }),
  nodes: [],
  cost: 0,
  overShare: false,
  gained,
});

const idsOf = (gains: readonly VictimGain[] | null): string | null =>
  gains === null
    ? null
    : gains
        .map(({ victim }) => victim.allocation)
        .sort()
        .join(" ");

const sumOf = (gains: readonly VictimGain[]): number => gains.reduce((sum, { gained }) => sum + gained, 0);

describe("victims", () => {
  it.each<{ name: string; gains: VictimGain[]; missing: number; most?: number; expected: string | null }>([
    {
      name: "the first that suffices",
      gains: [gain(1, 2, 1), gain(2, 2, 4), gain(3, 2, 4)],
      missing: 3,
      expected: "2",
    },
    {
      name: "one of a higher class is not taken where several lower ones suffice",
      gains: [gain(1, 1, 2), gain(2, 1, 2), gain(3, 4, 4)],
      missing: 4,
      expected: "1 2",
    },
    {
      name: "one of a higher class alone rather than with lower ones",
      gains: [gain(1, 1, 1), gain(2, 4, 4)],
      missing: 4,
      expected: "2",
    },
    {
      name: "lower ones together with a higher one",
      gains: [gain(1, 1, 2), gain(2, 4, 3)],
      missing: 5,
      expected: "1 2",
    },
    { name: "the cheapest few", gains: [gain(1, 2, 2), gain(2, 2, 2), gain(3, 2, 2)], missing: 4, expected: "1 2" },
    {
      name: "the largest where the cheapest are too many",
      gains: [gain(1, 2, 1), gain(2, 2, 1), gain(3, 2, 3), gain(4, 2, 3)],
      missing: 6,
      most: 2,
      expected: "3 4",
    },
    {
      name: "none where even the most allowed do not suffice",
      gains: [gain(1, 2, 1), gain(2, 2, 1), gain(3, 2, 1)],
      missing: 3,
      most: 2,
      expected: null,
    },
    { name: "none of nothing", gains: [], missing: 1, expected: null },
    {
      name: "without a small one that the large ones make unnecessary",
      gains: [gain(1, 2, 1), gain(2, 2, 3), gain(3, 2, 3)],
      missing: 6,
      expected: "2 3",
    },
  ])("are $name", ({ gains, missing, most = 3, expected }) => {
    const fits = (set: readonly VictimGain[]): boolean => sumOf(set) >= missing;
    expect(idsOf(findVictims({ gains, missing, most, fits }))).toBe(expected);
  });

  it("are as many as allowed where fewer do not fit by topology, without the unneeded ones", () => {
    const gains = [gain(1, 2, 1), gain(2, 2, 1), gain(3, 2, 1)];
    const fits = (set: readonly VictimGain[]): boolean => idsOf(set)?.includes("3") === true && set.length >= 2;
    expect(idsOf(findVictims({ gains, missing: 2, most: 3, fits }))).toBe("1 3");
  });

  it("are never a set that was already tried or frees too few nodes", () => {
    const gains = [gain(1, 1, 1), gain(2, 2, 1), gain(3, 3, 1)];
    const tried: string[] = [];
    const fits = (set: readonly VictimGain[]): boolean => {
      tried.push(idsOf(set) ?? "");
      return false;
    };
    expect(findVictims({ gains, missing: 2, most: 3, fits })).toBeNull();
    expect(tried).toEqual([...new Set(tried)]);
    expect(tried).toEqual(["1 2", "1 2 3"]);
  });

  it("suffice, none of them is unnecessary, and no lower class alone would suffice", () => {
    const someGains = fc
      .array(fc.tuple(fc.nat(4), fc.integer({ min: 1, max: 4 })), { minLength: 1, maxLength: 7 })
      .map((list) =>
        list
          .map(([preemptionClass, gained], i) => gain(i + 1, preemptionClass, gained))
          .sort((a, b) => a.victim.preemptionClass - b.victim.preemptionClass),
      );
    let several = 0;
    fc.assert(
      fc.property(
        someGains,
        fc.integer({ min: 1, max: 10 }),
        fc.integer({ min: 1, max: 4 }),
        (gains, missing, most) => {
          const fits = (set: readonly VictimGain[]): boolean => sumOf(set) >= missing;
          const found = findVictims({ gains, missing, most, fits });
          const biggest = [...gains].sort((a, b) => b.gained - a.gained).slice(0, most);
          expect(largest(gains, most)).toEqual(biggest);
          expect(found === null).toBe(sumOf(biggest) < missing);
          if (found === null) return;
          if (found.length > 1) several += 1;
          expect(found.length).toBeLessThanOrEqual(most);
          expect(fits(found)).toBe(true);
          for (const one of found) expect(fits(found.filter((other) => other !== one))).toBe(false);
          const highest = Math.max(...found.map(({ victim }) => victim.preemptionClass));
          const lower = gains.filter(({ victim }) => victim.preemptionClass < highest);
          expect(sumOf([...lower].sort((a, b) => b.gained - a.gained).slice(0, most))).toBeLessThan(missing);
        },
      ),
      { numRuns: 500 },
    );
    expect(several).toBeGreaterThan(80);
  });
});
