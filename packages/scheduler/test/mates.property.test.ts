// Those who ask for the same start in the order of their submission, whatever ends early, is cancelled, or
// has asked for more time than it needs; and nobody's promise is broken for that.

import { type Duration, instant } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { NodeInput, PendingInput } from "../src/index.ts";
import { input, job, MINUTE, NOW, node } from "./make.ts";
import { type Scenario, simulate } from "./simulate.ts";

interface Shape {
  readonly nodes: number;
  readonly extra: number;
  readonly minutes: number;
  readonly gpuCount: number;
  readonly tight: boolean;
}

const shape: fc.Arbitrary<Shape> = fc.record({
  nodes: fc.integer({ min: 1, max: 4 }),
  extra: fc.constantFrom(0, 0, 0, 1),
  minutes: fc.integer({ min: 1, max: 60 }),
  gpuCount: fc.constantFrom(0, 0, 4),
  tight: fc.constantFrom(false, false, true),
});

const nodes: fc.Arbitrary<NodeInput[]> = fc
  .array(fc.record({ group: fc.nat(2), gpus: fc.constantFrom(0, 4) }), { minLength: 3, maxLength: 8, size: "max" })
  .map((kinds) =>
    kinds.map(({ group, gpus }, i) =>
      node(`n${i}`, { in: `g${group}`, gpuCount: gpus, gpuType: gpus > 0 ? "GH200" : "" }),
    ),
  );

const one = fc.record({
  shape: fc.nat(2),
  owner: fc.constantFrom("physics", "physics", "biology"),
  after: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 30 * 60 })),
  runMilli: fc.integer({ min: 1, max: 1000 }),
  cancelledAfter: fc.oneof(
    { weight: 5, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 120 * 60 }) },
  ),
});

const history = fc.record({
  nodes,
  shapes: fc.array(shape, { minLength: 3, maxLength: 3 }),
  ones: fc.array(one, { minLength: 6, maxLength: 26, size: "max" }),
  depth: fc.integer({ min: 0, max: 8 }),
  fifo: fc.boolean(),
  weights: fc.constantFrom("hpc_backfill" as const, "service_bin_pack" as const, "ml_training" as const),
});

const scenarioOf = ({ nodes, shapes, ones, depth, fifo }: typeof history extends fc.Arbitrary<infer T> ? T : never): Scenario => {
  let at: number = NOW;
  const jobs = ones.map(({ shape, owner, after }, i): PendingInput => {
    at += after * 1000;
    const { nodes: count, extra, minutes, gpuCount, tight } = shapes[shape] as Shape;
    const constraints = { gpuCount, topology: tight ? ("tight" as const) : ("any" as const) };
    const made = job(i + 1, { nodes: count, max: count + extra, tenant: owner, constraints });
    return { ...made, submittedAt: instant(at), walltime: (minutes * MINUTE) as Duration };
  });
  return {
    base: input({ nodes, fifo, backfillDepth: depth }),
    jobs,
    runMilli: ones.map(({ runMilli }) => runMilli),
    cancelledAt: ones.map(({ cancelledAfter }, i) =>
      cancelledAfter === null ? null : (jobs[i] as PendingInput).submittedAt + cancelledAfter * 1000,
    ),
    remember: true,
  };
};

describe("those who ask for the same", () => {
  it("start in the order of their submission", () => {
    let waited = 0;
    fc.assert(
      fc.property(history, (given) => {
        const scenario = scenarioOf(given);
        const { startedAt } = simulate(scenario);
        const last = new Map<string, number>();
        for (const [i, { id, tenant, submittedAt }] of scenario.jobs.entries()) {
          const at = startedAt.get(id);
          // Who was cancelled while it waited is out of it.
          if (at === undefined) continue;
          const kind = `${given.ones[i]?.shape} ${tenant}`;
          expect(at, `start of ${id}`).toBeGreaterThanOrEqual(last.get(kind) ?? 0);
          last.set(kind, at);
          if (at > submittedAt) waited += 1;
        }
      }),
      { numRuns: 400 },
    );
    expect(waited).toBeGreaterThan(400);
  });
});
