// The greedy solver against the best possible plan. The distribution is printed by the bench `scheduler-gap`.

import { describe, expect, it } from "vitest";
import { gapOf } from "./exact.ts";
import { instanceOf } from "./instance.ts";

describe("greedy against exact", () => {
  it("loses less than 3 % of the value on average, over 500 small instances", () => {
    const gaps = Array.from({ length: 500 }, (_, seed) => gapOf(instanceOf(seed + 1)));
    expect(gaps.every((gap) => gap >= -1e-9 && gap < 0.5)).toBe(true);
    expect(gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length).toBeLessThan(0.03);
    expect(gaps.filter((gap) => gap < 1e-9).length).toBeGreaterThan(150);
  });
});
