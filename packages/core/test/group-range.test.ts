// The positions of a group's elements against the plain list of its indexes.

import { countUpTo, describeRange, indexAt, parseIndexes, positionOf, rangeOfRuns, sizeOf } from "@lattice/core";
import fc from "fast-check";
import { expect, it } from "vitest";

const item = fc
  .record({ start: fc.nat(60), length: fc.nat(12), step: fc.integer({ min: 1, max: 4 }) })
  .map(({ start, length, step }) => ({ start, end: start + length, step }));

const naive = (items: readonly { start: number; end: number; step: number }[]): readonly number[] => {
  const indexes = new Set<number>();
  for (const { start, end, step } of items) for (let n = start; n <= end; n += step) indexes.add(n);
  return [...indexes].sort((a, b) => a - b);
};

it("a list in any order contains each of its indexes once", () => {
  fc.assert(
    fc.property(fc.array(item, { minLength: 1, maxLength: 8 }), (items) => {
      const text = items.map(({ start, end, step }) => `${start}-${end}:${step}`).join(",");
      const parsed = parseIndexes(text);
      if (parsed.kind === "bad") throw new Error(parsed.detail);
      const range = rangeOfRuns(parsed.runs);
      const indexes = naive(items);
      expect(sizeOf(range)).toBe(indexes.length);
      expect(indexes.map((_, position) => indexAt(range, position))).toEqual(indexes);
      expect(range.start).toBe(indexes[0]);
      for (let index = 0; index < 80; index += 1) {
        const position = indexes.indexOf(index);
        expect(positionOf(range, index)).toBe(position < 0 ? null : position);
        expect(countUpTo(range, index)).toBe(indexes.filter((one) => one <= index).length);
      }
      // The shown form parses again.
      const again = parseIndexes(describeRange(range));
      expect(again.kind === "runs" && rangeOfRuns(again.runs)).toEqual(range);
    }),
  );
});
