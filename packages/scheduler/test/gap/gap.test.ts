// The greedy solver against the best possible plan. The distribution is printed by the bench `scheduler-gap`.

import { describe, expect, it } from "vitest";
import { gapOf } from "./exact.ts";
import { instanceOf } from "./instance.ts";

describe("greedy against exact, over 500 small instances", () => {
  it.each([
    { shape: "third", mean: 0.02, best: 250 },
    { shape: "half", mean: 0.03, best: 180 },
  ] as const)("requests of up to a $shape of the nodes lose less than $mean of the value", ({ shape, mean, best }) => {
    const gaps = Array.from({ length: 500 }, (_, seed) => gapOf(instanceOf(seed + 1, shape)));
    expect(gaps.every((gap) => gap >= -1e-9 && gap < 0.5)).toBe(true);
    expect(gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length).toBeLessThan(mean);
    expect(gaps.filter((gap) => gap < 1e-9).length).toBeGreaterThan(best);
  });
});
