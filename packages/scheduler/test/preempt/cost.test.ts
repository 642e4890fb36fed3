// The cost of a victim, the value of a preemptor, and the candidates in the order in which they would be stopped.

import { type Duration, instant } from "@lattice/core";
import { describe, expect, it } from "vitest";
import type { CycleInput, VictimInput } from "../../src/index.ts";
import { machineOf } from "../../src/machine/machine.ts";
import { preemptionCost, preemptionValue } from "../../src/preempt/cost.ts";
import { victimCandidates } from "../../src/preempt/filter.ts";
import { allocationId, input, job, MINUTE, NOW, nodesIn, tenant } from "../make.ts";
import { full, type RunningFields, running } from "./make.ts";

const two = ["a", "b"];
const victim = (fields: RunningFields, more: Partial<VictimInput> = {}): VictimInput => ({
  ...running(11, two, fields),
  ...more,
});
/** A day of two nodes. */
const DEAR = 2 * 24 * 60;

describe("the cost of a victim", () => {
  it.each<{ name: string; of: VictimInput; expected: number }>([
    { name: "is all work since its start", of: victim({ began: 30 }), expected: 30 * 2 },
    { name: "counts each GPU", of: victim({ began: 30 }, { gpusPerNode: 4 }), expected: 30 * 2 * 4 },
    { name: "is nothing before its start", of: victim({}, { startedAt: null }), expected: 0 },
    { name: "is nothing when it starts in the future", of: victim({ began: -5 }), expected: 0 },
    { name: "adds nothing before a tenth of its walltime", of: victim({ began: 59, minutes: 600 }), expected: 118 },
    { name: "adds the part of its walltime it has used", of: victim({ began: 60, minutes: 600 }), expected: 120 + 0.2 },
    { name: "adds its part up to nine tenths", of: victim({ began: 540, minutes: 600 }), expected: 1080 + 1.8 },
    {
      name: "adds a day of its nodes beyond nine tenths",
      of: victim({ began: 541, minutes: 600 }),
      expected: 1082 + DEAR,
    },
    { name: "of unbounded work is its work", of: victim({ began: 600, minutes: null }), expected: 1200 },
    {
      name: "is a day of its nodes more when it is lost for good",
      of: victim({ began: 30, requeues: false }),
      expected: 60 + DEAR,
    },
    { name: "grows with every earlier preemption", of: victim({ began: 30, preempted: 2 }), expected: 3 * 60 },
    {
      name: "does not multiply the loss for good",
      of: victim({ began: 30, preempted: 2, requeues: false }),
      expected: 180 + DEAR,
    },
    { name: "of one with checkpoints is a minute", of: victim({ began: 30 }, { checkpoints: true }), expected: 1 },
  ])("$name", ({ of, expected }) => {
    expect(preemptionCost(of, { now: NOW })).toBeCloseTo(expected, 9);
  });

  it("is the measured time of a checkpoint, where that is known", () => {
    const signals = { checkpointMinutes: new Map([[allocationId(11), 7]]) };
    expect(preemptionCost(victim({ began: 30 }, { checkpoints: true }), { now: NOW, signals })).toBe(7);
    expect(preemptionCost(victim({ began: 30 }), { now: NOW, signals })).toBe(7);
  });
});

describe("the value of a preemptor", () => {
  it.each([
    { name: "is its requested work", of: job(1, { nodes: 3, minutes: 20 }), above: 0, expected: 60 },
    { name: "counts each GPU", of: job(1, { minutes: 20, constraints: { gpuCount: 4 } }), above: 0, expected: 80 },
    { name: "is four times as much for each class between", of: job(1, { minutes: 20 }), above: 3, expected: 20 * 64 },
    { name: "of unbounded work is a day", of: job(1, { nodes: 2, minutes: null }), above: 0, expected: DEAR },
    { name: "counts the minimum of a range", of: job(1, { nodes: 1, max: 9, minutes: 20 }), above: 0, expected: 20 },
  ])("$name", ({ of, above, expected }) => {
    expect(preemptionValue(of, above)).toBe(expected);
  });
});

describe("candidates", () => {
  const nodes = nodesIn("g0", "a", "b", "c", "d");
  const idsOf = (victims: readonly VictimInput[], rest: Partial<CycleInput> = {}): string[] => {
    const given = full(nodes, victims, rest);
    return victimCandidates(given, machineOf(given)).map(({ victim: { allocation } }) => allocation);
  };

  it.each<{ name: string; of: VictimInput; rest?: Partial<CycleInput>; expected: boolean }>([
    { name: "one that has just started", of: victim({}), expected: true },
    { name: "one that ends in five minutes", of: victim({ began: 55, minutes: 60 }), expected: false },
    { name: "one that ends a moment later", of: victim({ began: 54.999, minutes: 60 }), expected: true },
    { name: "an unbounded one", of: victim({ minutes: null }), expected: true },
    { name: "one that has not started", of: victim({ minutes: 1 }, { startedAt: null }), expected: true },
    { name: "class 6 without checkpoints", of: victim({ class: 6 }), expected: true },
    { name: "class 7 without checkpoints", of: victim({ class: 7 }), expected: false },
    { name: "class 9 with checkpoints", of: victim({ class: 9 }, { checkpoints: true }), expected: true },
    { name: "one preempted five times", of: victim({ preempted: 5 }), expected: false },
    { name: "one preempted four times", of: victim({ preempted: 4 }), expected: true },
    { name: "a borrower preempted five times", of: victim({ preempted: 5, borrows: true }), expected: true },
    {
      name: "one with checkpoints preempted five times",
      of: victim({ preempted: 5 }, { checkpoints: true }),
      expected: true,
    },
    {
      name: "one whose checkpoint cannot be written",
      of: victim({}, { checkpoints: true }),
      rest: { signals: { cannotWrite: new Set([allocationId(11)]) } },
      expected: false,
    },
    {
      name: "one whose checkpoint cannot be written, for a sensitive claim",
      of: victim({}, { checkpoints: true }),
      rest: { isSensitive: true, signals: { cannotWrite: new Set([allocationId(11)]) } },
      expected: true,
    },
    {
      name: "one without checkpoints, whatever storage is away",
      of: victim({}),
      rest: { signals: { cannotWrite: new Set([allocationId(11)]) } },
      expected: true,
    },
    {
      name: "one that may finish by the rule of its own vCluster",
      of: victim({ began: 30, minutes: 60 }, { nearCompletion: (30 * MINUTE) as Duration }),
      expected: false,
    },
  ])("include $name: $expected", ({ of, rest = {}, expected }) => {
    expect(idsOf([of], rest)).toEqual(expected ? ["11"] : []);
  });

  it.each<{ name: string; victims: VictimInput[]; rest?: Partial<CycleInput>; expected: string[] }>([
    {
      name: "lower classes first",
      victims: [running(1, ["a"], { class: 3 }), running(2, ["b"], { class: 1, began: 90 })],
      expected: ["2", "1"],
    },
    {
      name: "then tenants above their share that may burst",
      victims: [running(1, ["a"], { tenant: "biology" }), running(2, ["b"], { tenant: "physics", began: 90 })],
      rest: {
        tenants: [
          tenant("physics", { nodesInUse: 3, fairShareMilli: 500, burstAllowanceMilli: 2000 }),
          tenant("biology"),
        ],
      },
      expected: ["2", "1"],
    },
    {
      name: "tenants at their share are not above it",
      victims: [running(1, ["a"], { tenant: "biology" }), running(2, ["b"], { tenant: "physics", began: 90 })],
      rest: {
        tenants: [
          tenant("physics", { nodesInUse: 2, fairShareMilli: 500, burstAllowanceMilli: 2000 }),
          tenant("biology"),
        ],
      },
      expected: ["1", "2"],
    },
    {
      name: "then the cheaper",
      victims: [running(1, ["a"], { began: 90 }), running(2, ["b"], { began: 5 })],
      expected: ["2", "1"],
    },
    {
      name: "then the larger",
      victims: [running(1, ["a"], { began: 20 }), running(2, ["b", "c"], { began: 10 })],
      expected: ["2", "1"],
    },
    { name: "then the younger", victims: [running(9, ["a"]), running(10, ["b"])], expected: ["10", "9"] },
  ])("are ordered: $name", ({ victims, rest = {}, expected }) => {
    expect(idsOf(victims, rest)).toEqual(expected);
    expect(idsOf([...victims].reverse(), rest)).toEqual(expected);
  });

  it("have only the nodes of this snapshot", () => {
    const given = input({ nodes, victims: [running(1, ["b", "elsewhere", "d"])] });
    expect(victimCandidates(given, machineOf(given)).map((candidate) => candidate.nodes)).toEqual([[1, 3]]);
    expect(victimCandidates(input({ nodes }), machineOf(input({ nodes })))).toEqual([]);
  });

  it("that start now are as cheap as instants allow", () => {
    expect(preemptionCost(victim({}, { startedAt: instant(NOW) }), { now: NOW })).toBe(0);
  });
});
