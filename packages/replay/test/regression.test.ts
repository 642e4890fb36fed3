// The regression traces in small: made from a seed, replayed through the real scheduler, and held against
// the marks of the testing chapter.

import { describe, expect, it } from "vitest";
import { choosePolicy, makeTrace, REGRESSION_NAMES, runRegression, summarise } from "../src/index.ts";
import { marksOf } from "../src/regression/thresholds.ts";
import { traceText } from "../src/regression/workload.ts";
import { traceOfJobs } from "./make.ts";

describe("the marks of preemption-heavy", () => {
  const trace = traceOfJobs(4, [
    { submit: 0, run: 7200, nodes: 4, priority: 2 },
    { submit: 10, run: 600, nodes: 4, priority: 8 },
  ]);
  const replayed = choosePolicy("lattice", trace, { inventory: null, profiles: null, unit: 1 }).policy(trace, () => {});
  const failed = (outcomes: typeof replayed): string[] => {
    const summary = summarise({ name: "x", policy: "lattice", perfect: false, gpus: 0 }, trace, outcomes);
    return marksOf("preemption-heavy", { trace, outcomes, summary }).flatMap(({ name, pass }) => (pass ? [] : [name]));
  };

  it("the marks count preempted jobs, preemptions and lost work", () => {
    expect([[...replayed.stops], [...replayed.lost], replayed.preemptions]).toEqual([[1, 0], [10, 0], 1]);
    expect(failed(replayed)).toEqual([]);
  });

  it.each([
    { name: "no preemption", change: { preemptions: 0 }, mark: "times work was stopped" },
    { name: "urgent work stopped", change: { stops: Uint16Array.of(1, 1) }, mark: "times urgent work was stopped" },
    { name: "much lost", change: { lost: Float64Array.of(5000, 0) }, mark: "work lost to stops" },
    {
      name: "one stopped time and again",
      change: { stops: Uint16Array.of(6, 0) },
      mark: "most times one was stopped",
    },
    { name: "urgent work that waits", change: { start: Float64Array.of(610, 400) }, mark: "p95 wait of class 8" },
  ])("fail: $name", ({ change, mark }) => {
    expect(failed({ ...replayed, ...change })).toEqual([mark]);
  });
});

describe.each(REGRESSION_NAMES)("%s", (name) => {
  it("equal seeds give equal workloads, other seeds others", () => {
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
