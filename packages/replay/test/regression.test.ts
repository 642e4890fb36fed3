// The regression traces in small: made from a seed, replayed through the real scheduler, and held against
// the marks of the testing chapter.

import { describe, expect, it } from "vitest";
import { makeTrace, REGRESSION_NAMES, runRegression } from "../src/index.ts";
import { traceText } from "../src/regression/workload.ts";

describe.each(REGRESSION_NAMES)("%s", (name) => {
  it("is the same for the same seed, and another for another", () => {
    const text = (seed: number): string => traceText(makeTrace(name, { seed, jobs: 50 }));
    expect(text(1)).toBe(text(1));
    expect(text(2)).not.toBe(text(1));
  });

  it("reaches its marks", () => {
    const marks = runRegression(name, { seed: 1, jobs: 300 });
    expect(marks.length).toBeGreaterThan(0);
    expect(marks.filter((mark) => !mark.pass)).toEqual([]);
  });
});
