// The elements of a task group: positions and indexes of ranges and lists agree with the list spelled out.

import {
  countUpTo,
  describeRange,
  type ElementRange,
  indexAt,
  parseIndexes,
  positionOf,
  rangeOfRuns,
  sizeOf,
} from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkShape } from "../../../src/model/group/check.ts";

const run = (start: number, end: number, step = 1) => ({ start, end, step });

/** One to five runs, apart from each other. */
const ranges: fc.Arbitrary<ElementRange> = fc
  .array(fc.tuple(fc.nat(4), fc.nat(9), fc.integer({ min: 1, max: 4 })), { minLength: 1, maxLength: 5 })
  .map((parts) => {
    let next = 0;
    const runs = parts.map(([gap, length, step]) => {
      const start = next + gap;
      next = start + length + 1;
      return run(start, start + length, step);
    });
    return rangeOfRuns(runs);
  });

function spelledOut(range: ElementRange): readonly number[] {
  const runs = range.runs ?? [range];
  return runs.flatMap(({ start, end, step }) =>
    Array.from({ length: end - start + 1 }, (_, n) => start + n).filter((index) => (index - start) % step === 0),
  );
}

describe("a range of elements", () => {
  it("agrees with its indexes spelled out", () => {
    fc.assert(
      fc.property(ranges, (range) => {
        const indexes = spelledOut(range);
        expect(sizeOf(range)).toBe(indexes.length);
        expect(indexes.map((_, position) => indexAt(range, position))).toEqual(indexes);
        for (let index = -1; index <= range.end + 2; index += 1) {
          const position = indexes.indexOf(index);
          expect(positionOf(range, index)).toBe(position < 0 ? null : position);
          expect(countUpTo(range, index)).toBe(indexes.filter((one) => one <= index).length);
        }
      }),
    );
  });

  it("is written so that it reads back as the same elements", () => {
    fc.assert(
      fc.property(ranges, (range) => {
        const parsed = parseIndexes(describeRange(range));
        if (parsed.kind === "bad") throw new Error(parsed.detail);
        expect(spelledOut(rangeOfRuns(parsed.runs))).toEqual(spelledOut(range));
      }),
    );
  });

  it("that is well formed is accepted", () => {
    fc.assert(
      fc.property(ranges, (range) => {
        expect(checkShape({ range, concurrency: null })).toEqual([]);
      }),
    );
  });

  it.each([
    [run(0, 99), "0-99"],
    [run(0, 99, 2), "0-99:2"],
    [run(5, 5), "5-5"],
    [rangeOfRuns([run(1, 1), run(3, 3), run(5, 7)]), "1,3,5-7"],
    [rangeOfRuns([run(1, 9, 4), run(20, 20)]), "1-9:4,20"],
  ])("%j is written as %s", (range, text) => {
    expect(describeRange(range)).toBe(text);
  });
});

describe("written indexes", () => {
  it.each([
    ["7", [run(7, 7)]],
    ["0-99", [run(0, 99)]],
    ["0-99:2", [run(0, 99, 2)]],
    ["5,6,7", [run(5, 7)]],
    ["3,1,2", [run(1, 3)]],
    ["1,1,1", [run(1, 1)]],
    ["1-3,2-5", [run(1, 5)]],
    ["1, 3 ,5", [run(1, 1), run(3, 3), run(5, 5)]],
    ["0-9:4,20", [run(0, 8, 4), run(20, 20)]],
    ["0-3:9,4", [run(0, 0), run(4, 4)]],
  ])("%j are the runs %j", (text, runs) => {
    expect(parseIndexes(text)).toEqual({ kind: "runs", runs });
  });

  it.each([
    ["", '"" is not a range of indexes'],
    ["a", '"a" is not a range of indexes'],
    ["1,a", '"a" is not an index'],
    ["-1", '"-1" is not a range of indexes'],
    ["1-", '"1-" is not a range of indexes'],
    ["1,,2", '"" is not an index'],
    ["1,5-3", 'has "5-3", which names no index'],
    ["1,5-9:0", 'has "5-9:0", which names no index'],
    ["1234567890", '"1234567890" is not a range of indexes'],
    ["0-99999,5-100004", "names indexes twice; of more than 100000, write each once"],
  ])("%j are refused: %s", (text, detail) => {
    expect(parseIndexes(text)).toEqual({ kind: "bad", detail });
  });

  it("may have a thousand ranges and not one more", () => {
    const list = (count: number): string => Array.from({ length: count }, (_, n) => 2 * n).join(",");
    expect(parseIndexes(list(1000)).kind).toBe("runs");
    expect(parseIndexes(list(1001))).toEqual({ kind: "bad", detail: "has 1001 ranges; the limit is 1000" });
  });

  it("of any items are each index once, in order", () => {
    const item = fc.tuple(fc.nat(30), fc.nat(6), fc.integer({ min: 1, max: 3 }));
    fc.assert(
      fc.property(fc.array(item, { minLength: 2, maxLength: 8 }), (items) => {
        const parsed = parseIndexes(
          items.map(([start, length, step]) => `${start}-${start + length}:${step}`).join(","),
        );
        if (parsed.kind === "bad") throw new Error(parsed.detail);
        const expected = new Set(
          items.flatMap(([start, length, step]) => spelledOut(run(start, start + length, step))),
        );
        expect(spelledOut(rangeOfRuns(parsed.runs))).toEqual([...expected].sort((a, b) => a - b));
      }),
    );
  });
});

describe("the shape of a task group", () => {
  const fields = (range: ElementRange, concurrency: number | null = null): readonly string[] =>
    checkShape({ range, concurrency }).map(({ field }) => field.replace("allocation.task_group.", ""));

  it.each<[string, ElementRange, number | null]>([
    ["one element", run(0, 0), null],
    ["the highest index", run(999_999_999, 999_999_999), 1],
    ["a million elements", run(0, 999_999), 1_000_000],
    ["a million of many indexes", run(0, 999_999_000, 1000), null],
  ])("may have %s", (_name, range, concurrency) => {
    expect(fields(range, concurrency)).toEqual([]);
  });

  it.each<[readonly string[], ElementRange, number | null]>([
    [["start"], run(-1, 3), null],
    [["end"], run(0, 1_000_000_000), null],
    [["start"], run(4, 3), null],
    [["step"], run(0, 3, 0), null],
    [["step"], run(0, 3, 1.5), null],
    [["end"], run(0, 1_000_000), null],
    [["concurrency"], run(0, 3), 0],
    [["concurrency"], run(0, 3), 1_000_001],
    [["concurrency"], run(0, 3), 0.5],
    [["start", "start", "step", "concurrency"], run(1.5, 1, 0), -1],
  ])("names %j when it is %j with the concurrency %j", (expected, range, concurrency) => {
    expect(fields(range, concurrency)).toEqual(expected);
  });

  it.each<[string, ElementRange]>([
    [
      "is out of order",
      {
        ...run(0, 9),
        runs: [
          { ...run(5, 9), before: 0 },
          { ...run(0, 1), before: 5 },
        ],
      },
    ],
    [
      "overlaps",
      {
        ...run(0, 9),
        runs: [
          { ...run(0, 5), before: 0 },
          { ...run(5, 9), before: 6 },
        ],
      },
    ],
    [
      "is counted wrong",
      {
        ...run(0, 9),
        runs: [
          { ...run(0, 1), before: 0 },
          { ...run(5, 9), before: 3 },
        ],
      },
    ],
    [
      "ends elsewhere than the range",
      {
        ...run(0, 8),
        runs: [
          { ...run(0, 1), before: 0 },
          { ...run(5, 9), before: 2 },
        ],
      },
    ],
    ["has one run only", { ...run(0, 9), runs: [{ ...run(0, 9), before: 0 }] }],
    [
      "has an empty run",
      {
        ...run(0, 9),
        runs: [
          { ...run(3, 1), before: 0 },
          { ...run(5, 9), before: 0 },
        ],
      },
    ],
  ])("is refused when its list %s", (_name, range) => {
    expect(fields(range)).toEqual(["indexes"]);
  });
});
