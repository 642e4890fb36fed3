// Weights are kept as thousandths that sum to one thousand, in the requested proportions.

import { BALANCED_WEIGHTS, type Weights } from "@lattice/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { normalised } from "../../src/api/handlers/weights.ts";

const sum = (weights: Weights): number => Object.values(weights).reduce((total, weight) => total + weight, 0);

test("weights that sum to one, or are all zero, are unchanged", () => {
  expect(normalised(BALANCED_WEIGHTS)).toEqual({ weights: BALANCED_WEIGHTS, warning: null });
  const none = Object.fromEntries(Object.keys(BALANCED_WEIGHTS).map((factor) => [factor, 0])) as unknown as Weights;
  expect(normalised(none)).toEqual({ weights: none, warning: null });
});

test("other weights are scaled, with a warning", () => {
  const { weights, warning } = normalised({ ...BALANCED_WEIGHTS, priority: 1200 });
  expect(weights).toMatchObject({ priority: 600, wait_time: 100, fair_share: 100, topology: 75, conformance: 50 });
  expect(warning).toBe("the weights sum to 2 and were scaled so that they sum to 1");
});

test("invalid weights are left for `apply` to reject", () => {
  for (const priority of [-1, 0.5, Number.NaN])
    expect(normalised({ ...BALANCED_WEIGHTS, priority }).warning).toBeNull();
});

test("the sum is always one, and no weight is off by a thousandth or more", () => {
  const factors = Object.keys(BALANCED_WEIGHTS);
  const some = fc.array(fc.nat(100_000), { minLength: factors.length, maxLength: factors.length });
  fc.assert(
    fc.property(some, (values) => {
      const asked = Object.fromEntries(factors.map((factor, i) => [factor, values[i] ?? 0])) as unknown as Weights;
      fc.pre(sum(asked) > 0);
      const { weights } = normalised(asked);
      expect(sum(weights)).toBe(1000);
      for (const factor of factors as (keyof Weights)[])
        expect(Math.abs(weights[factor] - (1000 * asked[factor]) / sum(asked))).toBeLessThan(1);
    }),
  );
});
