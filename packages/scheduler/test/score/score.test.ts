// The factors, their ranges, and the weighted sum.

import { type Duration, duration, WEIGHT_PROFILES } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toJob } from "../../src/fit/job.ts";
import type { CycleInput, PendingInput } from "../../src/index.ts";
import type { CheckpointInput } from "../../src/input/cycle-input.ts";
import type { Signals } from "../../src/input/signals.ts";
import { machineOf } from "../../src/machine/machine.ts";
import { backlog, backlogOf } from "../../src/score/backlog.ts";
import { checkpoint } from "../../src/score/checkpoint.ts";
import { conformance } from "../../src/score/conformance.ts";
import { dataReadiness } from "../../src/score/data-readiness.ts";
import { energy } from "../../src/score/energy.ts";
import { fairShare } from "../../src/score/fair-share.ts";
import { priority } from "../../src/score/priority.ts";
import { placedScores, scoreBasis, scores, totalMilli } from "../../src/score/score.ts";
import { createScorer } from "../../src/score/scorer.ts";
import { softQuota } from "../../src/score/soft-quota.ts";
import { placedTopology, queueTopology } from "../../src/score/topology.ts";
import { referenceWait, waitTime } from "../../src/score/wait-time.ts";
import { allocationId, input, job, MINUTE, node, release, tenant } from "../make.ts";

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
    { name: "the same for everyone", measure: "elapsed", walltime: 60_000, expected: 3_600_000 },
    { name: "what was asked for", measure: "proportional", walltime: 60_000, expected: 60_000 },
    { name: "ten seconds at least", measure: "proportional", walltime: 1, expected: 10_000 },
    { name: "a day where nothing was asked for", measure: "proportional", walltime: null, expected: 86_400_000 },
  ] as const)("a wait is measured against $name", ({ measure, walltime, expected }) => {
    expect(referenceWait(measure, walltime as Duration | null)).toBe(expected);
  });

  it.each([
    { name: "nothing used", targetMilli: 250, used: 0, expected: 1 },
    { name: "half its share", targetMilli: 250, used: 0.125, expected: 0.5 },
    { name: "at its share", targetMilli: 250, used: 0.25, expected: 0 },
    { name: "above its share", targetMilli: 250, used: 1, expected: 0 },
    { name: "no share", targetMilli: 0, used: 0, expected: 0 },
  ])("fair share: $name", ({ expected, ...share }) => {
    expect(fairShare(share)).toBeCloseTo(expected, 12);
  });

  it.each([
    { name: "one node: inside alone", nodes: 1, groupsUsed: 1, groupsAvailable: 4, inside: 0.6, expected: 0.6 },
    { name: "several: both", nodes: 8, groupsUsed: 1, groupsAvailable: 4, inside: 0.6, expected: 0.7 * 0.75 + 0.18 },
    { name: "all groups", nodes: 8, groupsUsed: 4, groupsAvailable: 4, inside: 1, expected: 0.3 },
    { name: "no groups", nodes: 8, groupsUsed: 1, groupsAvailable: 0, inside: 1, expected: 0.3 },
  ])("topology of a placement: $name", ({ expected, ...given }) => {
    expect(placedTopology({ ...given, efficiency: 1 })).toBeCloseTo(expected, 12);
    expect(placedTopology({ ...given, efficiency: 0.5 })).toBeCloseTo(expected / 2, 12);
  });

  it("topology in the queue counts the inside of a node and the efficiency", () => {
    expect(queueTopology({ inside: 0.6, efficiency: 1 })).toBeCloseTo(0.6, 12);
    expect(queueTopology({ inside: 0.6, efficiency: 0.5 })).toBeCloseTo(0.3, 12);
  });

  it.each([
    [undefined, 0.5],
    [0, 0],
    [0.8, 0.8],
    [7, 1],
    [Number.NaN, 0.5],
  ])("data readiness of %d is %d", (share, expected) => {
    expect(dataReadiness(share)).toBe(expected);
  });

  it.each([
    [0, 0, 0],
    [5, 0, 1],
    [5, 10, 0.5],
    [50, 10, 1],
  ])("a backlog of %i queued and %i running is %d", (queued, running, expected) => {
    expect(backlog({ queued, running })).toBe(expected);
  });

  it("the backlog counts nodes times time, and of running work the remaining time", () => {
    const given = input({ pending: [job(1, { nodes: 3, minutes: 20 })], releases: [release(10.5, "a", "b")] });
    expect(backlogOf(given)).toEqual({ queued: 60 * MINUTE, running: 20 * MINUTE });
  });

  it.each([
    [undefined, 0],
    [0, 1],
    [0.3, 0.7],
    [2, 0],
  ])("energy at a price of %d is %d", (price, expected) => {
    expect(energy(price)).toBeCloseTo(expected, 12);
  });

  it.each([
    [undefined, 0],
    [0, 1],
    [1, 0.5],
    [9, 0.1],
  ])("a checkpoint of %d minutes counts %d", (minutes, expected) => {
    expect(checkpoint(minutes)).toBeCloseTo(expected, 12);
  });

  it.each([
    { name: "all alike", sizes: [4], asked: 4, expected: 1 },
    { name: "half", sizes: [2, 2], asked: 4, expected: 0.5 },
    { name: "clamped", sizes: [6], asked: 4, expected: 1 },
    { name: "one node", sizes: [], asked: 1, expected: 1 },
  ])("conformance: $name", ({ sizes, asked, expected }) => {
    expect(conformance(sizes, asked)).toBe(expected);
  });

  it.each([
    { name: "no budget", budgetUsed: undefined, ofShare: 9, burstAllowance: undefined, expected: 1 },
    { name: "80 % used", budgetUsed: 0.8, ofShare: 0, burstAllowance: undefined, expected: 1 },
    { name: "90 % used", budgetUsed: 0.9, ofShare: 0, burstAllowance: undefined, expected: 0.75 },
    { name: "used up", budgetUsed: 1, ofShare: 0, burstAllowance: undefined, expected: 0.5 },
    { name: "overdrawn", budgetUsed: 1.01, ofShare: 0, burstAllowance: undefined, expected: 0.05 },
    { name: "within its burst", budgetUsed: 0, ofShare: 1.5, burstAllowance: 1.5, expected: 1 },
    { name: "beyond its burst", budgetUsed: 0, ofShare: 1.6, burstAllowance: 1.5, expected: 0.05 },
  ])("soft quota: $name", ({ expected, ...given }) => {
    expect(softQuota(given)).toBeCloseTo(expected, 12);
  });

  it("a longer wait never scores less, and shares stay within 0 and 1", () => {
    const whole = fc.integer({ min: 0, max: 10_000 });
    fc.assert(
      fc.property(whole, whole, whole, (a, b, c) => {
        const [short, long] = a <= b ? [a, b] : [b, a];
        expect(waitTime((long * 1000) as Duration)).toBeGreaterThanOrEqual(waitTime((short * 1000) as Duration));
        const share = fairShare({ targetMilli: a, used: b / (c + 1) });
        expect(share).toBeGreaterThanOrEqual(0);
        expect(share).toBeLessThanOrEqual(1);
      }),
      { numRuns: 500 },
    );
  });
});

describe("the score", () => {
  const scored = (given: CycleInput, pending: PendingInput) => {
    const machine = machineOf(given);
    return { basis: scoreBasis(given, machine), job: toJob(machine, pending, given.signals) };
  };

  it("is a weighted sum in whole thousandths whose terms add up to the total", () => {
    const given = input({ nodes: [node("n1"), node("n2")], tenants: [tenant("physics", { nodesInUse: 0 })] });
    const { basis, job: waited } = scored(given, job(1, { class: 8, waited: 60 }));
    // hpc_backfill: 150 x 0.8, 250 x ln 2, 150 x 1, 150 x 1 (one node), 100 x 0.5 (unknown), no backlog
    const terms = { priority: 120, wait_time: 173, fair_share: 150, topology: 150, data_readiness: 50 };
    const none = { backlog: 0, energy: 0, checkpoint: 0 };
    expect(scores(basis, waited)).toEqual({ ...terms, ...none, total: 643 });
    expect(totalMilli(basis, waited)).toBe(643);
    expect(placedScores(basis, waited, [0])).toEqual({ ...terms, ...none, conformance: 100, total: 743 });
  });

  it("ranks placements of one job by the groups they span, and no wide job behind a narrow one", () => {
    const nodes = ["a", "b", "c", "d"].map((id) => node(id, { in: id < "c" ? "g0" : "g1" }));
    const given = input({ nodes, tenants: [tenant("physics")] });
    const { basis, job: narrow } = scored(given, job(1));
    const { job: wide } = scored(given, job(2, { nodes: 2 }));
    const { job: whole } = scored(given, job(3, { nodes: 4 }));
    expect(totalMilli(basis, wide)).toBe(totalMilli(basis, narrow));
    expect(totalMilli(basis, whole)).toBe(totalMilli(basis, narrow));
    // hpc_backfill: 150 x (0.7 x (1 - groups / 2) + 0.3)
    expect(placedScores(basis, wide, [0, 1]).topology).toBe(98);
    expect(placedScores(basis, wide, [0, 2]).topology).toBe(45);
  });

  it("omits fair share for an unknown tenant", () => {
    const { basis, job: unknown } = scored(input({ nodes: [node("n1")], tenants: [] }), job(1));
    expect(scores(basis, unknown).fair_share).toBe(0);
  });

  it("uses every available signal", () => {
    const given = input({
      weights: WEIGHT_PROFILES.ml_training,
      nodes: ["a", "b", "c", "d"].map((id, i) => node(id, { in: `g${i}`, conformance: i < 3 ? "x" : "y" })),
      pending: [job(1, { nodes: 2 })],
      signals: {
        energyPrice: 0.2,
        dataReady: new Map([[allocationId(1), 0.9]]),
        checkpointMinutes: new Map([[allocationId(1), 4]]),
        efficiency: new Map([[allocationId(1), 0.5]]),
      },
    });
    const { basis, job: first } = scored(given, job(1, { nodes: 2 }));
    expect(placedScores(basis, first, [0, 3])).toEqual({
      priority: 50,
      wait_time: 0,
      fair_share: 100,
      // 250 x (0.7 x (1 - 2 / 4) + 0.3 x 1) x 0.5
      topology: 81,
      data_readiness: 135,
      // Something is queued and nothing runs.
      backlog: 50,
      energy: 40,
      checkpoint: 20,
      conformance: 50,
      total: 526,
    });
  });

  it("counts the checkpoints of a pending allocation: its last one, or an estimate from its request", () => {
    const weights = { ...WEIGHT_PROFILES.ml_training, checkpoint: 1000 };
    const took = (input: Partial<CheckpointInput>): CheckpointInput => ({
      lastDuration: null,
      nodes: 2,
      gpus: 0,
      memoryBytes: 0,
      ...input,
    });
    const f8 = (checkpoint: CheckpointInput | undefined, signals: Signals = {}): number => {
      const waiting = { ...job(1), ...(checkpoint === undefined ? {} : { checkpoint }) };
      const { basis, job: mine } = scored(
        input({ weights, nodes: [node("n1")], pending: [waiting], signals }),
        waiting,
      );
      expect(createScorer(basis)(mine)).toBe(totalMilli(basis, mine));
      return scores(basis, mine).checkpoint ?? Number.NaN;
    };
    const rates = { bytesPerSecond: 1e9, gpuMemoryBytes: 60e9 };
    expect(f8(undefined)).toBe(0);
    expect(f8(took({ lastDuration: duration(60_000) }))).toBe(500);
    // 8 GPUs of 60 GB at 1 GB/s: eight minutes; 60 GB of memory: one.
    expect(f8(took({ gpus: 8 }), { checkpointRates: rates })).toBe(111);
    expect(f8(took({ memoryBytes: 60e9 }), { checkpointRates: rates })).toBe(500);
    expect(f8(took({}))).toBeGreaterThan(900);
    // A signal takes precedence.
    expect(f8(took({ gpus: 8 }), { checkpointMinutes: new Map([[allocationId(1), 3]]) })).toBe(250);
  });

  it("falls by the soft quota penalty, to the thousandth", () => {
    const tenants = [tenant("physics", { budgetUsedMilli: 900 }), tenant("biology", { budgetUsedMilli: 1200 })];
    const given = input({ nodes: [node("n1")], tenants });
    const { basis, job: mine } = scored(given, job(1));
    expect(scores(basis, mine)).toMatchObject({ soft_quota: -106, total: 319 });
    const theirs = scored(given, job(2, { tenant: "biology" }));
    expect(totalMilli(theirs.basis, theirs.job)).toBe(21);
  });
});
