// Sketches: how exact quantiles are, and that merging in any way gives the sketch of all values.

import {
  addValue,
  bucketOf,
  emptySketch,
  mergeSketch,
  packedBuckets,
  quantileOf,
  type Sketch,
  sketchOf,
} from "@lattice/core";
import fc from "fast-check";
import { expect, test } from "vitest";

function of(values: readonly number[]): Sketch {
  const sketch = emptySketch();
  for (const value of values) addValue(sketch, value);
  return sketch;
}

const amounts = fc.array(fc.double({ min: 1e-5, max: 1e15, noNaN: true }), { minLength: 1, maxLength: 200 });

test("a quantile is within 1/32 of the value with that rank, and never above the maximum", () => {
  fc.assert(
    fc.property(amounts, fc.constantFrom(0.5, 0.95, 0.99, 1), (values, part) => {
      const exact = [...values].sort((a, b) => a - b)[Math.ceil(part * values.length) - 1] ?? 0;
      const found = quantileOf(of(values), part) ?? Number.NaN;
      expect(Math.abs(found - exact) / exact).toBeLessThanOrEqual(1 / 32);
      expect(found).toBeLessThanOrEqual(Math.max(...values));
    }),
  );
});

test("merged sketches of parts equal the sketch of all values, also after they were packed", () => {
  fc.assert(
    fc.property(amounts, amounts, (a, b) => {
      const merged = of(a);
      const other = of(b);
      mergeSketch(merged, sketchOf(other, packedBuckets(other)));
      const all = of([...a, ...b]);
      expect([...merged.buckets].sort(([x], [y]) => x - y)).toEqual([...all.buckets].sort(([x], [y]) => x - y));
      expect([merged.count, merged.max]).toEqual([all.count, all.max]);
      expect(merged.sum).toBeCloseTo(all.sum, -Math.ceil(Math.log10(all.sum)) + 8);
    }),
  );
});

test.each([
  [0, 0],
  [-3, 0],
  [Number.NaN, 0],
  [2 ** -20, 1],
  [1, 641],
  [1.99, 672],
  [2, 673],
])("%d lies in bucket %i", (value, bucket) => expect(bucketOf(value)).toBe(bucket));

test("an empty sketch has no quantile, and malformed buckets are ignored", () => {
  expect(quantileOf(emptySketch(), 0.5)).toBeNull();
  const sketch = sketchOf({ sum: Number.NaN, max: -1 }, [641, 2, -1, 5, 1e9, 1, 641.5, 3, 642, Number.NaN, 700]);
  expect([sketch.count, sketch.sum, sketch.max, [...sketch.buckets]]).toEqual([2, 0, 0, [[641, 2]]]);
});
