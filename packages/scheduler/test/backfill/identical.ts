// Histories of allocations of which many ask for the same: some end early, some are cancelled, most have asked
// for more time than they need.

import { type Duration, instant } from "@lattice/core";
import fc from "fast-check";
import type { NodeInput, PendingInput } from "../../src/index.ts";
import { input, job, MINUTE, NOW, node } from "../make.ts";
import type { Run, Scenario } from "../simulate.ts";

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

export const someMates = fc.record({
  nodes,
  shapes: fc.array(shape, { minLength: 3, maxLength: 3 }),
  ones: fc.array(one, { minLength: 6, maxLength: 26, size: "max" }),
  depth: fc.integer({ min: 0, max: 8 }),
  isFifo: fc.boolean(),
});

export type Mates = typeof someMates extends fc.Arbitrary<infer T> ? T : never;

export const scenarioOf = ({ nodes, shapes, ones, depth, isFifo }: Mates): Scenario => {
  let at: number = NOW;
  const jobs = ones.map(({ shape, owner, after }, i): PendingInput => {
    at += after * 1000;
    const { nodes: count, extra, minutes, gpuCount, tight } = shapes[shape] as Shape;
    const constraints = { gpuCount, topology: tight ? ("tight" as const) : ("any" as const) };
    const made = job(i + 1, { nodes: count, max: count + extra, tenant: owner, constraints });
    return { ...made, submittedAt: instant(at), walltime: (minutes * MINUTE) as Duration };
  });
  return {
    base: input({ nodes, isFifo, backfillDepth: depth }),
    jobs,
    runMilli: ones.map(({ runMilli }) => runMilli),
    cancelledAt: ones.map(({ cancelledAfter }, i) =>
      cancelledAfter === null ? null : (jobs[i] as PendingInput).submittedAt + cancelledAfter * 1000,
    ),
    remember: true,
  };
};

/** The first that started before one that asks for the same and was submitted earlier; null where none did. */
export function overtaking({ ones }: Mates, { jobs }: Scenario, { startedAt }: Run): string | null {
  const last = new Map<string, number>();
  for (const [i, { id, tenant }] of jobs.entries()) {
    const at = startedAt.get(id);
    // Skip allocations cancelled while pending.
    if (at === undefined) continue;
    const kind = `${ones[i]?.shape} ${tenant}`;
    if (at < (last.get(kind) ?? 0)) return id;
    last.set(kind, at);
  }
  return null;
}
