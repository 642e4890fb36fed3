// The factors, their ranges, and the weighted sum.

import type { Duration } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fairShare } from "../src/score/fair-share.ts";
import { priority } from "../src/score/priority.ts";
import { scoreBasis, scores, totalMilli } from "../src/score/score.ts";
import { waitTime } from "../src/score/wait-time.ts";
import { input, job, node, tenant } from "./make.ts";

describe("factors", () => {
  it.each([
    [0, 0],
    [5, 0.5],
    [10, 1],
  ])("priority of class %i is %d", (preemptionClass, expected) => {
    expect(priority(preemptionClass)).toBe(expected);
  });

  it.each([
    [0, 0],
    [3_600_000, Math.log(2)],
    [36_000_000, Math.log(11)],
  ])("a wait of %i ms counts %d", (waited, expected) => {
    expect(waitTime(waited as Duration)).toBeCloseTo(expected, 12);
  });

  it.each([
    { name: "nothing used", targetMilli: 250, nodesInUse: 0, clusterNodes: 8, expected: 1 },
    { name: "half its share", targetMilli: 250, nodesInUse: 1, clusterNodes: 8, expected: 0.5 },
    { name: "at its share", targetMilli: 250, nodesInUse: 2, clusterNodes: 8, expected: 0 },
    { name: "above its share", targetMilli: 250, nodesInUse: 8, clusterNodes: 8, expected: 0 },
    { name: "no share", targetMilli: 0, nodesInUse: 0, clusterNodes: 8, expected: 0 },
    { name: "no nodes", targetMilli: 250, nodesInUse: 0, clusterNodes: 0, expected: 0 },
  ])("fair share: $name", ({ expected, ...share }) => {
    expect(fairShare(share)).toBeCloseTo(expected, 12);
  });

  it("waiting longer never scores less, and shares stay within 0 and 1", () => {
    const whole = fc.integer({ min: 0, max: 10_000 });
    fc.assert(
      fc.property(whole, whole, whole, (a, b, c) => {
        const [short, long] = a <= b ? [a, b] : [b, a];
        expect(waitTime((long * 1000) as Duration)).toBeGreaterThanOrEqual(waitTime((short * 1000) as Duration));
        const share = fairShare({ targetMilli: a, nodesInUse: b, clusterNodes: c });
        expect(share).toBeGreaterThanOrEqual(0);
        expect(share).toBeLessThanOrEqual(1);
      }),
      { numRuns: 500 },
    );
  });
});

describe("score", () => {
  it("is a weighted sum in whole thousandths whose terms add up to the total", () => {
    const given = input({ nodes: [node("n1"), node("n2")], tenants: [tenant("physics", { nodesInUse: 0 })] });
    const waited = job(1, { class: 8, waited: 60 });
    const breakdown = scores(scoreBasis(given), waited);
    // hpc_backfill: 150 x 0.8, 200 x ln 2, 200 x 1
    expect(breakdown).toEqual({ priority: 120, wait_time: 139, fair_share: 200, total: 459 });
    expect(totalMilli(scoreBasis(given), waited)).toBe(459);
  });

  it("leaves fair share out for a tenant it knows nothing of", () => {
    const given = input({ nodes: [node("n1")], tenants: [] });
    expect(scores(scoreBasis(given), job(1)).fair_share).toBe(0);
  });
});
