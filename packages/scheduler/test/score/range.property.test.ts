// Every factor stays within [0, 1], the breakdown adds up, and the fast scorer of a queue equals the definition.

import { type AllocationId, type Duration, type VClusterId, WEIGHT_PROFILES } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toJob } from "../../src/fit/job.ts";
import { type CycleInput, cycle, type NodeInput } from "../../src/index.ts";
import type { Signals } from "../../src/input/signals.ts";
import { machineOf } from "../../src/machine/machine.ts";
import { backlog } from "../../src/score/backlog.ts";
import { checkpoint, expectedMinutes } from "../../src/score/checkpoint.ts";
import { conformance } from "../../src/score/conformance.ts";
import { dataReadiness } from "../../src/score/data-readiness.ts";
import { energy } from "../../src/score/energy.ts";
import { fairShare } from "../../src/score/fair-share.ts";
import { createInsideFitness } from "../../src/score/inside-fitness.ts";
import { priority } from "../../src/score/priority.ts";
import { ORDERING_FACTORS, scoreBasis, scores, totalMilli } from "../../src/score/score.ts";
import { createScorer } from "../../src/score/scorer.ts";
import { softQuota } from "../../src/score/soft-quota.ts";
import { placedTopology, queueTopology } from "../../src/score/topology.ts";
import { waitTime } from "../../src/score/wait-time.ts";
import { someInput } from "../arbitrary.ts";
import { busy, input, type JobFields, job, node, tenant } from "../make.ts";

const anyNumber = fc.oneof(
  fc.double({ min: -1e6, max: 1e6, noNaN: true }),
  fc.constantFrom(0, 1, -0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
);
const amount = fc.double({ min: 0, max: 1e9, noNaN: true });
const part = fc.double({ min: 0, max: 1, noNaN: true });

const within = (value: number): void => {
  expect(value).toBeGreaterThanOrEqual(0);
  expect(value).toBeLessThanOrEqual(1);
};

describe("a factor", () => {
  it.each<[string, fc.Arbitrary<number>]>([
    ["priority", fc.integer({ min: -5, max: 20 }).map(priority)],
    ["fair share", fc.record({ targetMilli: fc.nat(2_000), used: amount }).map(fairShare)],
    [
      "topology of a placement",
      fc
        .record({
          nodes: fc.nat(99),
          groupsUsed: fc.nat(99),
          groupsAvailable: fc.nat(99),
          inside: part,
          efficiency: part,
        })
        .map(placedTopology),
    ],
    ["topology in the queue", fc.record({ inside: amount, efficiency: amount }).map(queueTopology)],
    ["data readiness", fc.option(anyNumber, { nil: undefined }).map(dataReadiness)],
    ["backlog", fc.record({ queued: amount, running: amount }).map(backlog)],
    ["energy", fc.option(anyNumber, { nil: undefined }).map(energy)],
    ["checkpoint", fc.option(anyNumber, { nil: undefined }).map(checkpoint)],
    ["conformance", fc.tuple(fc.array(fc.nat(20)), fc.nat(20)).map(([sizes, asked]) => conformance(sizes, asked))],
    [
      "soft quota",
      fc
        .record({
          budgetUsed: fc.option(amount, { nil: undefined }),
          ofShare: amount,
          burstAllowance: fc.option(amount, { nil: undefined }),
        })
        .map(softQuota),
    ],
  ])("%s stays within 0 and 1", (_, values) => {
    fc.assert(fc.property(values, within), { numRuns: 300 });
  });

  it("of wait time is never negative, and 0 for a submission in the future", () => {
    expect(waitTime(-5_000 as Duration)).toBe(0);
  });
});

describe("the minutes of a checkpoint", () => {
  const plain = { lastDuration: null, nodes: 2, gpus: 0, memoryBytes: 0 };
  const rates = { bytesPerSecond: 1e9, gpuMemoryBytes: 30e9 };
  it.each([
    { name: "unknown without checkpoints", of: undefined, expected: undefined },
    { name: "those of the last one", of: { ...plain, gpus: 8, lastDuration: 90_000 as Duration }, expected: 1.5 },
    { name: "by GPUs first", of: { ...plain, gpus: 4, memoryBytes: 1 }, expected: 2 },
    { name: "then by memory", of: { ...plain, memoryBytes: 30e9 }, expected: 0.5 },
    { name: "then by nodes", of: plain, expected: 32 / 60 },
  ])("are $name", ({ of, expected }) => {
    const minutes = expectedMinutes(of, rates);
    if (expected === undefined) expect(minutes).toBeUndefined();
    else expect(minutes).toBeCloseTo(expected, 12);
  });
});

describe("the fitness inside a node", () => {
  const insideOf = (given: readonly NodeInput[], fields: JobFields): number => {
    const machine = machineOf(input({ nodes: given }));
    return createInsideFitness(machine)(toJob(machine, job(1, fields)));
  };
  const nodes = [node("a"), node("b", { gpuCount: 2 }), busy("c", { gpuCount: 4 })];

  it("is that of the best matching node, free or not, and the same for any number of nodes", () => {
    const alone = insideOf(nodes, { constraints: { gpuCount: 2 } });
    expect(alone).toBeGreaterThan(0);
    expect(insideOf(nodes, { nodes: 2, constraints: { gpuCount: 2 } })).toBe(alone);
    expect(insideOf(nodes.slice(1), { constraints: { gpuCount: 2 } })).toBe(alone);
  });

  it("is 0 where no node matches", () => {
    expect(insideOf(nodes, { constraints: { gpuCount: 8 } })).toBe(0);
  });
});

describe("the score", () => {
  const profiles = Object.values(WEIGHT_PROFILES);
  const someSignals: fc.Arbitrary<Signals> = fc
    .record({
      energyPrice: fc.option(part, { nil: undefined }),
      shares: fc.option(fc.array(part, { minLength: 12, maxLength: 12 }), { nil: undefined }),
      efficiencies: fc.option(fc.array(part, { minLength: 12, maxLength: 12 }), { nil: undefined }),
      minutes: fc.option(fc.array(fc.nat(60), { minLength: 4, maxLength: 4 }), { nil: undefined }),
    })
    .map(({ energyPrice, shares, efficiencies, minutes }) => {
      const byId = (values: readonly number[]): ReadonlyMap<AllocationId, number> =>
        new Map(values.map((value, i) => [String(i + 1) as AllocationId, value]));
      return {
        ...(energyPrice === undefined ? null : { energyPrice }),
        ...(shares === undefined ? null : { dataReady: byId(shares) }),
        ...(efficiencies === undefined ? null : { efficiency: byId(efficiencies) }),
        ...(minutes === undefined ? null : { checkpointMinutes: byId(minutes) }),
      };
    });
  const someSoft = fc.record({
    budgetUsedMilli: fc.option(fc.nat(1_500), { nil: undefined }),
    burstAllowanceMilli: fc.option(fc.nat(3_000), { nil: undefined }),
    usedShareMilli: fc.option(fc.nat(1_000), { nil: undefined }),
    nodesInUse: fc.nat(9),
  });

  it("by the fast scorer equals the sum of the terms, for every profile, signal and soft quota", () => {
    fc.assert(
      fc.property(
        someInput,
        someSignals,
        someSoft,
        fc.constantFrom(...profiles),
        fc.constantFrom("elapsed" as const, "proportional" as const),
        (some, signals, soft, weights, waitMeasure) => {
          const { budgetUsedMilli, burstAllowanceMilli, usedShareMilli, nodesInUse } = soft;
          const tenants = [
            tenant("physics", {
              nodesInUse,
              ...(budgetUsedMilli === undefined ? null : { budgetUsedMilli }),
              ...(burstAllowanceMilli === undefined ? null : { burstAllowanceMilli }),
              ...(usedShareMilli === undefined ? null : { usedShareMilli }),
            }),
          ];
          const given: CycleInput = { ...some, signals, tenants, weights, waitMeasure };
          const machine = machineOf(given);
          const basis = scoreBasis(given, machine);
          const scoreOf = createScorer(basis);
          for (const pending of given.pending) {
            const one = toJob(machine, pending, signals);
            const parts = scores(basis, one);
            const { total, ...terms } = parts;
            expect(Object.values(terms).reduce((sum, milli) => (sum ?? 0) + (milli ?? 0), 0)).toBe(total);
            for (const factor of ORDERING_FACTORS) {
              expect(Number.isInteger(parts[factor])).toBe(true);
              expect(parts[factor]).toBeGreaterThanOrEqual(0);
              if (factor !== "wait_time") expect(parts[factor]).toBeLessThanOrEqual(weights[factor]);
            }
            expect(total).toBeGreaterThanOrEqual(0);
            expect(totalMilli(basis, one)).toBe(total);
            expect(scoreOf(one)).toBe(total);
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  it("of a placement has conformance within its weight, and a penalty for borrowed nodes only", () => {
    const lender = "other" as VClusterId;
    fc.assert(
      fc.property(someInput, fc.boolean(), (some, isLent) => {
        const nodes = some.nodes.map((each, i) => (isLent && i % 2 === 0 ? { ...each, lender } : each));
        const pending = some.pending.map((each) => ({ ...each, borrowsFrom: [lender] }));
        const lent = new Set<string>(nodes.filter((each) => each.lender !== undefined).map(({ id }) => id));
        for (const { scores: stored, nodes: taken } of cycle({ ...some, nodes, pending }).placements) {
          const { total, ...terms } = stored;
          expect(Object.values(terms).reduce((sum, milli) => (sum ?? 0) + (milli ?? 0), 0)).toBe(total);
          within((stored.conformance ?? -1) / some.weights.conformance);
          const borrowed = taken.filter((id) => lent.has(id)).length;
          expect((stored.borrowed ?? 0) < 0).toBe(borrowed > 0);
        }
      }),
      { numRuns: 150 },
    );
  });
});
