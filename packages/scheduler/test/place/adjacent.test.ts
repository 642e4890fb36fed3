// Adjacent groups: the run with the fewest spare nodes, else the best groups out of a run twice as long.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { adjacentGroups } from "../../src/place/adjacent.ts";

const chosen = (counts: readonly number[], need: number, groups: number): number[] | null =>
  adjacentGroups(Int32Array.from(counts), need, groups);

describe("adjacent groups", () => {
  it.each([
    { name: "the run with the least to spare", counts: [4, 4, 3, 3, 9, 9], need: 6, groups: 2, expected: [2, 3] },
    { name: "the first of equal runs", counts: [3, 3, 0, 3, 3], need: 6, groups: 2, expected: [0, 1] },
    { name: "a run at the start", counts: [5, 5, 1, 1], need: 10, groups: 2, expected: [0, 1] },
    { name: "a run at the end", counts: [1, 1, 5, 5], need: 10, groups: 2, expected: [2, 3] },
    { name: "all groups", counts: [1, 2, 3], need: 6, groups: 3, expected: [0, 1, 2] },
    { name: "one group", counts: [1, 7, 4], need: 4, groups: 1, expected: [2] },
    {
      name: "two of four where no two neighbours suffice",
      counts: [5, 0, 0, 5],
      need: 10,
      groups: 2,
      expected: [0, 3],
    },
    {
      name: "the first run of four that suffices",
      counts: [5, 0, 0, 1, 5, 0, 0, 5],
      need: 10,
      groups: 2,
      expected: [4, 7],
    },
    { name: "none where they are too far apart", counts: [5, 0, 0, 0, 0, 5], need: 10, groups: 2, expected: null },
    { name: "none where there are too few nodes", counts: [1, 1], need: 3, groups: 2, expected: null },
  ])("are $name", ({ counts, need, groups, expected }) => {
    expect(chosen(counts, need, groups)).toEqual(expected);
  });

  it("are as many as asked for, suffice, and span a run or twice a run", () => {
    let found = 0;
    fc.assert(
      fc.property(
        fc.array(fc.nat(5), { minLength: 1, maxLength: 9 }),
        fc.nat(20),
        fc.integer({ min: 1, max: 4 }),
        (counts, need, groups) => {
          const result = chosen(counts, need, groups);
          const sumOf = (list: readonly number[]): number =>
            list.reduce((sum, group) => sum + (counts[group] as number), 0);
          const runs = counts.flatMap((_, first) =>
            first + groups > counts.length ? [] : [Array.from({ length: groups }, (__, i) => first + i)],
          );
          const sufficient = runs.filter((run) => sumOf(run) >= need);
          if (sufficient.length > 0) expect(sumOf(result ?? [])).toBe(Math.min(...sufficient.map(sumOf)));
          if (result === null) return;
          found += 1;
          expect(result).toHaveLength(groups);
          expect(result).toEqual([...new Set(result)].sort((a, b) => a - b));
          expect(sumOf(result)).toBeGreaterThanOrEqual(need);
          expect((result.at(-1) as number) - (result[0] as number)).toBeLessThan(
            sufficient.length > 0 ? groups : 2 * groups,
          );
        },
      ),
      { numRuns: 400 },
    );
    expect(found).toBeGreaterThan(100);
  });
});
