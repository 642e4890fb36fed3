// Estimates of a short queue: the cycles to come, with work that ends at its walltime.

import { describe, expect, it } from "vitest";
import { recordCycle } from "../src/index.ts";
import { experiment } from "./estimate-accuracy.ts";
import { busy, input, job, MINUTE, NOW, release } from "./make.ts";

const SEEDS = [1, 2, 3];

/** Minutes until each pending job starts. */
const startsIn = (fields: Parameters<typeof input>[0]): Record<string, number> => {
  const { estimates } = recordCycle(input({ report: "full", ...fields })).result;
  return Object.fromEntries([...estimates].map(([id, at]) => [id, (at - NOW) / MINUTE]));
};

describe("estimates of a short queue", () => {
  it.each(SEEDS)(
    "are exact for jobs of known length that are all known, and no reserved start is late (%i)",
    (seed) => {
      const { right, waited, reservedShown, reservedLate } = experiment(seed);
      expect({ right, reservedLate }).toEqual({ right: waited, reservedLate: 0 });
      expect(waited).toBeGreaterThan(50);
      expect(reservedShown).toBeGreaterThan(15);
    },
  );

  it.each(SEEDS)("leave no reserved start late when jobs end early and others arrive later (%i)", (seed) => {
    const { reservedShown, reservedLate } = experiment(seed, { runShare: 0.6, spacing: 10_000 });
    expect(reservedLate).toBe(0);
    expect(reservedShown).toBeGreaterThan(15);
  });

  it("count no grace for the jobs ahead, but for the running ones until a reserved start", () => {
    const pending = [1, 2, 3].map((id) => job(id, { minutes: 20, waited: 10 - id }));
    const starts = startsIn({ nodes: [busy("a")], releases: [release(10.5, "a")], pending });
    expect(starts).toEqual({ 1: 10.5, 2: 30, 3: 50 });
  });

  it("know quotas, and leave out work that no known end lets start", () => {
    const quota = { nodesInUse: 1, running: 1, maxNodes: 1, maxConcurrentAllocations: null, fairShareMilli: 500 };
    const physics = { ...quota, id: "physics" as never };
    const ends = { ...release(10.5, "a"), tenant: "physics" as never };
    const pending = [job(1, { minutes: 20 }), job(2, { minutes: null, waited: 1 })];
    const free = { ...busy("b"), free: true, notFreeBecause: "" };
    const starts = startsIn({ nodes: [busy("a"), free], releases: [ends], pending, tenants: [physics] });
    expect(Object.keys(starts)).toHaveLength(1);
  });
});
