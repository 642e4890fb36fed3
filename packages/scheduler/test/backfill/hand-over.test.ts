// Identical requests keep queue order: the first in the queue gets a slot that opens, and no reservation moves later.

import { instant } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { areIdentical } from "../../src/backfill/hand-over.ts";
import { areInterchangeable, toJob } from "../../src/fit/job.ts";
import type { CycleInput, PendingInput } from "../../src/index.ts";
import { machineOf } from "../../src/machine/machine.ts";
import { allocationId, busy, input, job, MINUTE, NOW, node, nodeIds, outcomeOf, promise, release } from "../make.ts";

const told = (given: Partial<CycleInput>) => outcomeOf({ backfillDepth: 4, ...given });

/** Two of a kind, and one that keeps the second from moving to where the first was to start. */
const pair = [job(1, { minutes: 60 }), job(2, { minutes: 60 })];
const other = job(3, { minutes: 30 });

describe("the first of identical requests", () => {
  it("starts in the slot of a later one, which gets its reservation", () => {
    const previous = [promise(1, 50, "a"), promise(2, 55, "b"), promise(3, 111, "a")];
    const given = { nodes: [busy("a"), node("b")], releases: [release(50, "a")], previousReservations: previous };
    expect(told({ ...given, pending: [...pair, other] })).toEqual({ placed: ["1: b"], held: ["2@50: a", "3@60.5: b"] });
  });

  it("takes an earlier start that a later one finds", () => {
    const previous = [promise(1, 60, "a"), promise(2, 100, "b"), promise(3, 121, "a")];
    const given = {
      nodes: [busy("a"), busy("b")],
      releases: [release(60, "a"), release(50, "b")],
      previousReservations: previous,
    };
    expect(told({ ...given, pending: [...pair, other] })).toEqual({
      placed: [],
      held: ["1@50: b", "2@60: a", "3@110.5: b"],
    });
  });

  it("does not start where the later one would start after its reservation", () => {
    const previous = [promise(1, 60, "a"), promise(2, 55, "b")];
    const given = { nodes: [busy("a"), node("b")], releases: [release(60, "a")], previousReservations: previous };
    expect(told({ ...given, pending: pair })).toEqual({ placed: ["2: b"], held: ["1@60: a"] });
  });

  it("is skipped when its reservation does not suit the later one; the next in the queue starts", () => {
    const previous = [promise(1, 56, "c"), promise(4, 50, "a"), promise(2, 55, "b"), promise(3, 111, "a")];
    const three = [job(1, { minutes: 60, waited: 2 }), job(4, { minutes: 60, waited: 1 }), job(2, { minutes: 60 })];
    const given = {
      nodes: [busy("a"), node("b"), busy("c")],
      releases: [release(50, "a"), release(56, "c")],
      previousReservations: previous,
    };
    const { placed, held } = told({ ...given, pending: [...three, other] });
    expect(placed).toEqual(["4: b"]);
    expect(held).toContain("2@50: a");
  });

  it("gets a reservation that becomes free, even if it had none", () => {
    const pending = [job(2, { minutes: 60 }), job(5, { minutes: 60, tenant: "biology" }), job(6, { minutes: 60 })];
    const previousReservations = [promise(5, 60, "a")];
    expect(told({ nodes: [node("a")], backfillDepth: 1, pending, previousReservations })).toEqual({
      placed: ["5: a"],
      held: ["2@60.5: a"],
    });
  });
});

describe("a reservation that cannot be carried over", () => {
  const previous = [promise(1, 60, "a"), promise(2, 100, "b")];
  const late = {
    nodes: [busy("a"), busy("b")],
    releases: [release(200, "a"), release(100, "b")],
    previousReservations: previous,
  };

  it("costs the last identical request its reservation, not the first", () => {
    expect(told({ ...late, pending: pair }).held).toEqual(["1@100: b", "2@160.5: b"]);
  });

  it("lets the first identical request start where the last could", () => {
    const given = { nodes: [busy("a"), node("b")], releases: [release(200, "a")], previousReservations: previous };
    expect(told({ ...given, pending: pair })).toEqual({ placed: ["1: b"], held: ["2@60.5: b"] });
  });

  it("leaves other requests unchanged", () => {
    const [first] = pair as [PendingInput];
    for (const second of [job(2, { minutes: 60, tenant: "biology" }), job(2, { minutes: 60, class: 4 })]) {
      expect(told({ ...late, pending: [first, second] }).held).toEqual(["2@100: b", "1@160.5: b"]);
    }
  });
});

describe("interchangeable requests", () => {
  const machine = machineOf(input({ nodes: [node("a"), node("b", { in: "g1" })] }));
  const one = job(1, { nodes: 2 });
  const asking = (fields: Partial<PendingInput>): PendingInput => ({ ...one, id: allocationId(2), ...fields });
  const constraints = (fields: Partial<PendingInput["constraints"]>) =>
    asking({ constraints: { ...one.constraints, ...fields } });
  it.each<[string, PendingInput, boolean]>([
    ["nothing but its id", asking({}), true],
    ["its submission", asking({ submittedAt: instant(NOW - MINUTE) }), true],
    ["its tenant", asking({ tenant: "biology" as PendingInput["tenant"] }), true],
    ["its class", asking({ preemptionClass: 7 }), true],
    ["its nodes", asking({ minNodes: 1 }), false],
    ["the most nodes", asking({ maxNodes: 3 }), false],
    ["its walltime", asking({ walltime: null }), false],
    ["its groups", constraints({ maxGroups: 1 }), false],
    ["its storage", constraints({ storageMBps: 5 }), false],
    ["sharing", asking({ canShareNode: true }), false],
    ["nodes excluded", constraints({ excludedNodes: nodeIds("a") }), false],
    ["cores", constraints({ cpuCores: 4 }), false],
    ["topology", constraints({ topology: "tight" }), false],
    ["one fingerprint", constraints({ requireConformance: true }), false],
    ["one memory domain", constraints({ preferSameNuma: true }), false],
  ])("are compared by %s: case %#", (_, wanted, expected) => {
    const [a, b] = [toJob(machine, one), toJob(machine, wanted)];
    expect(areInterchangeable(a, b)).toBe(expected);
    expect(areIdentical(a, b)).toBe(
      expected && one.tenant === wanted.tenant && one.preemptionClass === wanted.preemptionClass,
    );
  });
});
