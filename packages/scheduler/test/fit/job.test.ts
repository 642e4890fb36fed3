// The values that a cycle derives from a request: nodes needed, occupancy, the limit of groups, efficiency, and the merit of kinds.

import { type MemoryTopology, NO_CONSTRAINTS, type VClusterId } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { LOW_EFFICIENCY, WALLTIME_GRACE } from "../../src/base/bounds.ts";
import { matchFor } from "../../src/fit/candidates.ts";
import { toJob } from "../../src/fit/job.ts";
import { kindMerit } from "../../src/fit/kind-merit.ts";
import { machineOf } from "../../src/machine/machine.ts";
import { allocationId, input, type JobFields, job, MINUTE, node, nodeIds, nodesIn } from "../make.ts";

const machine = machineOf(
  input({ nodes: [...nodesIn("g1", "a1", "a2", "a3"), ...nodesIn("g2", "b1", "b2"), ...nodesIn("g3", "c1")] }),
);
const made = (fields: JobFields) => toJob(machine, job(1, fields));

describe("a job", () => {
  it("occupies its nodes for its walltime and the grace", () => {
    expect(made({ minutes: 10 }).occupancy).toBe(10 * MINUTE + WALLTIME_GRACE);
    expect(made({ minutes: null }).occupancy).toBe(Number.POSITIVE_INFINITY);
  });

  it.each([
    { name: "its minimum", fields: { nodes: 2, max: 5 }, expected: 2 },
    {
      name: "its required nodes, where they are more",
      fields: { nodes: 1, max: 5, constraints: { requiredNodes: nodeIds("a1", "b1") } },
      expected: 2,
    },
    {
      name: "a node required twice only once",
      fields: { constraints: { requiredNodes: nodeIds("a1", "a1") } },
      expected: 1,
    },
    {
      name: "its minimum, where a required node is unknown",
      fields: { nodes: 2, constraints: { requiredNodes: nodeIds("zz", "a1", "a2") } },
      expected: 2,
    },
  ])("needs $name", ({ fields, expected }) => {
    expect(made(fields).nodesNeeded).toBe(expected);
  });

  it.each<{ name: string; fields: JobFields; expected: number }>([
    { name: "any number without a limit", fields: { nodes: 2 }, expected: Number.POSITIVE_INFINITY },
    { name: "its own limit", fields: { nodes: 2, constraints: { maxGroups: 2 } }, expected: 2 },
    {
      name: "one group for a tight request that fits one",
      fields: { nodes: 3, constraints: { topology: "tight" } },
      expected: 1,
    },
    {
      name: "two groups for a larger tight request",
      fields: { nodes: 4, constraints: { topology: "tight" } },
      expected: 2,
    },
    { name: "three groups for all nodes", fields: { nodes: 6, constraints: { topology: "tight" } }, expected: 3 },
    {
      name: "the lower of both limits",
      fields: { nodes: 4, constraints: { topology: "tight", maxGroups: 1 } },
      expected: 1,
    },
    {
      name: "its own limit, where a tight request never fits",
      fields: { nodes: 7, constraints: { topology: "tight", maxGroups: 2 } },
      expected: 2,
    },
    {
      name: "the groups of its required nodes",
      fields: { nodes: 2, constraints: { topology: "tight", requiredNodes: nodeIds("a1", "c1") } },
      expected: 2,
    },
    {
      name: "fewer nodes where some are excluded",
      fields: { nodes: 3, constraints: { topology: "tight", excludedNodes: nodeIds("a1") } },
      expected: 2,
    },
  ])("may span $name", ({ fields, expected }) => {
    expect(made(fields).maxGroups).toBe(expected);
  });

  it.each([
    [undefined, false],
    [LOW_EFFICIENCY - 0.01, true],
    [LOW_EFFICIENCY, false],
    [1, false],
  ])("with an efficiency of %s is inefficient: %s", (value, expected) => {
    const efficiency = new Map(value === undefined ? [] : [[allocationId(1), value]]);
    expect(toJob(machine, job(1), { efficiency }).isInefficient).toBe(expected);
  });
});

describe("a match", () => {
  const lender = "other" as VClusterId;
  const lent = machineOf(
    input({ nodes: [node("a"), node("b", { lender }), node("c", { lender: "third" as VClusterId })] }),
  );

  it("has borrowed nodes only of vClusters that the request may borrow from", () => {
    expect(matchFor(lent, NO_CONSTRAINTS).size).toBe(1);
    expect(matchFor(lent, NO_CONSTRAINTS, [lender]).size).toBe(2);
    expect(matchFor(lent, NO_CONSTRAINTS, [lender, "third" as VClusterId]).size).toBe(3);
    expect(matchFor(lent, NO_CONSTRAINTS).size).toBe(1);
  });

  it("has no required nodes when one of them is excluded or does not fit", () => {
    const asking = (fields: object) => matchFor(machine, { ...NO_CONSTRAINTS, ...fields }).required;
    expect(asking({ requiredNodes: nodeIds("a1"), excludedNodes: nodeIds("a1") })).toBeNull();
    expect(asking({ requiredNodes: nodeIds("a1"), gpuCount: 1 })).toBeNull();
    expect(asking({ requiredNodes: nodeIds("a1"), excludedNodes: nodeIds("a2") })).toEqual([0]);
  });
});

describe("the merit of kinds", () => {
  const half: MemoryTopology = {
    domains: [{ id: 0, kind: "dram", capacityBytes: 1, numaNode: 0, cpus: [0, 1], gpus: [] }],
    interconnects: [],
  };
  const mixed = machineOf(input({ nodes: [node("a", { memoryTopology: half }), node("b", { cpuCores: 16 })] }));
  const wanting = (fields: object) => kindMerit(mixed, { ...NO_CONSTRAINTS, cpuCores: 4, ...fields });

  it("is the part of the request within one memory domain", () => {
    expect([...(wanting({ preferSameNuma: true }) ?? [])]).toEqual([0.5, 1]);
  });

  it("is unknown without the preference, or without known domains", () => {
    expect(wanting({})).toBeNull();
    expect(kindMerit(machine, { ...NO_CONSTRAINTS, preferSameNuma: true })).toBeNull();
  });
});
