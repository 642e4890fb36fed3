// The value and the cost of a checkpoint: each term, the decision, and its reason.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type WorthInput, type WorthRates, worthOf } from "../../src/index.ts";

const INPUT: WorthInput = {
  nodes: 2,
  devices: 8,
  sizeBytes: 100e9,
  writeSeconds: 20,
  sinceSeconds: 3_600,
  unhealthyNodes: 0,
  urgencyAbove: 0,
  candidates: 0,
  backlog: 0,
  remainingSeconds: null,
};
const RATES: WorthRates = { nodeMtbfSeconds: 1e7, storageSecondsPerGb: 0.1, quietSeconds: 21_600 };
const worth = (change: Partial<WorthInput> = {}, rates: Partial<WorthRates> = {}) =>
  worthOf({ ...INPUT, ...change }, { ...RATES, ...rates });

describe("the terms of a checkpoint", () => {
  it("cost the write, the idle devices and the storage", () => {
    expect(worth()).toMatchObject({ writeTime: 20, computeWaste: 160, storageCost: 10, cost: 190 });
  });

  it("save the work since the last one, times the chance of a failure", () => {
    const { failureProbability, recomputeSaved } = worth();
    expect(failureProbability).toBeCloseTo(1 - Math.exp((-2 * 3_600) / 1e7), 12);
    expect(recomputeSaved).toBeCloseTo(3_600 * 8 * failureProbability, 9);
  });

  it("count an unhealthy node as fifty", () => {
    expect(worth({ unhealthyNodes: 1 }).failureProbability).toBeCloseTo(worth({ nodes: 51 }).failureProbability, 12);
  });

  it.each([
    { urgencyAbove: 0, candidates: 4, expected: 0 },
    { urgencyAbove: 1, candidates: 4, expected: 0.25 },
    { urgencyAbove: 9, candidates: 4, expected: 1 },
    { urgencyAbove: 9, candidates: 0, expected: 0 },
  ])("weigh urgency $urgencyAbove over $candidates candidates as $expected", ({ expected, ...given }) => {
    expect(worth(given).preemptability).toBeCloseTo(3_600 * 8 * 0.1 * expected, 9);
  });

  it.each([
    { name: "an hour of freed nodes at most", remainingSeconds: null, expected: 3_600 },
    { name: "no more than the time that is left", remainingSeconds: 1_800, expected: 1_800 },
    { name: "an hour where more is left", remainingSeconds: 9_999, expected: 3_600 },
  ])("relieve the queue by $name", ({ remainingSeconds, expected }) => {
    const { backlogRelief } = worth({ backlog: 0.5, remainingSeconds });
    expect(backlogRelief).toBeCloseTo(0.5 * expected * 8 * 0.01 * (1 - Math.exp(-1)), 9);
  });

  it.each([
    { name: "long before the walltime", remainingSeconds: 341, isDue: false },
    { name: "close to the walltime", remainingSeconds: 340, isDue: true },
    { name: "with just enough time to write", remainingSeconds: 21, isDue: true },
    { name: "without time to write", remainingSeconds: 20, isDue: false },
    { name: "without a walltime", remainingSeconds: null, isDue: false },
  ])("include the loss at the walltime $name: $isDue", ({ remainingSeconds, isDue }) => {
    expect(worth({ remainingSeconds }).walltimeRisk).toBe(isDue ? (3_600 * 8) / 2 : 0);
  });

  it("leave the walltime out where the last checkpoint is newer than the time left", () => {
    expect(worth({ remainingSeconds: 300, sinceSeconds: 300 }).walltimeRisk).toBe(0);
    expect(worth({ remainingSeconds: 300, sinceSeconds: 301 }).walltimeRisk).toBeGreaterThan(0);
  });
});

describe("a checkpoint pays", () => {
  it.each<{ name: string; change: Partial<WorthInput>; rates?: Partial<WorthRates>; pays: boolean; reason: RegExp }>([
    { name: "not while nothing is at stake", change: {}, pays: false, reason: /cost more than it saves/ },
    {
      name: "when it has been quiet for long",
      change: { sinceSeconds: 21_600 },
      rates: { nodeMtbfSeconds: 1e12 },
      pays: true,
      reason: /its regular checkpoint is due/,
    },
    {
      name: "not a moment before that",
      change: { sinceSeconds: 21_599 },
      rates: { nodeMtbfSeconds: 1e12 },
      pays: false,
      reason: /cost more/,
    },
    {
      name: "when a node is unhealthy",
      change: { unhealthyNodes: 1 },
      pays: true,
      reason: /a failure would lose more/,
    },
    {
      name: "when a higher class waits",
      change: { urgencyAbove: 1, candidates: 1 },
      pays: true,
      reason: /higher class/,
    },
    {
      name: "when many wait",
      change: { backlog: 1, devices: 1_000, writeSeconds: 6, sizeBytes: 0 },
      rates: { nodeMtbfSeconds: 1e12 },
      pays: true,
      reason: /many wait/,
    },
    {
      name: "when its walltime is nearly over",
      change: { remainingSeconds: 300 },
      pays: true,
      reason: /walltime is nearly over/,
    },
    {
      name: "not within a minute of its start",
      change: { sinceSeconds: 59, writeSeconds: 1, unhealthyNodes: 2 },
      rates: { nodeMtbfSeconds: 1 },
      pays: false,
      reason: /too recent/,
    },
    {
      name: "a minute after its start",
      change: { sinceSeconds: 60, writeSeconds: 1, unhealthyNodes: 2 },
      rates: { nodeMtbfSeconds: 1 },
      pays: true,
      reason: /a failure/,
    },
    {
      name: "not within ten times its write time",
      change: { sinceSeconds: 199, unhealthyNodes: 2 },
      rates: { nodeMtbfSeconds: 1 },
      pays: false,
      reason: /too recent/,
    },
    {
      name: "after ten times its write time",
      change: { sinceSeconds: 200, unhealthyNodes: 2 },
      rates: { nodeMtbfSeconds: 1 },
      pays: true,
      reason: /a failure/,
    },
    {
      name: "not when it is due but too recent",
      change: { sinceSeconds: 50 },
      rates: { quietSeconds: 10 },
      pays: false,
      reason: /too recent/,
    },
  ])("$name", ({ change, rates = {}, pays, reason }) => {
    const result = worth(change, rates);
    expect(result.pays).toBe(pays);
    expect(result.reason).toMatch(reason);
  });

  it("by the sum of its terms, all of them never negative and finite", () => {
    const someInput: fc.Arbitrary<WorthInput> = fc.record({
      nodes: fc.integer({ min: 1, max: 100 }),
      devices: fc.integer({ min: 1, max: 800 }),
      sizeBytes: fc.nat(2 ** 40),
      writeSeconds: fc.nat(1_000),
      sinceSeconds: fc.nat(100_000),
      unhealthyNodes: fc.nat(5),
      urgencyAbove: fc.nat(20),
      candidates: fc.nat(20),
      backlog: fc.double({ min: 0, max: 1, noNaN: true }),
      remainingSeconds: fc.option(fc.nat(100_000)),
    });
    fc.assert(
      fc.property(someInput, (given) => {
        const { pays, reason, ...terms } = worthOf(given, RATES);
        for (const term of Object.values(terms)) {
          expect(Number.isFinite(term)).toBe(true);
          expect(term).toBeGreaterThanOrEqual(0);
        }
        const { recomputeSaved, preemptability, backlogRelief, walltimeRisk, value, cost } = terms;
        expect(value).toBeCloseTo(recomputeSaved + preemptability + backlogRelief + walltimeRisk, 6);
        if (pays) expect(value > cost || given.sinceSeconds >= RATES.quietSeconds).toBe(true);
        expect(reason).not.toBe("");
        expect(terms.failureProbability).toBeLessThanOrEqual(1);
      }),
      { numRuns: 300 },
    );
  });
});
