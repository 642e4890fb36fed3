// The words of explanations: relaxed constraints, shortfalls, the state of a tenant, variants of a request.

import { type Constraints, NO_CONSTRAINTS } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { relaxations, shortfallField, shortfallText } from "../../src/explain/constraint-texts.ts";
import { missing } from "../../src/explain/shortfall-text.ts";
import { tenantText } from "../../src/explain/tenant-text.ts";
import { durationText, nodesText } from "../../src/explain/text.ts";
import { walltimesBefore, withNodes, withoutConstraints, withWalltime } from "../../src/explain/variants.ts";
import { type CycleRecord, recordCycle, type TenantInput } from "../../src/index.ts";
import { draftOf, jobFrom, jobOn } from "../drafts.ts";
import { busy, input, job, MINUTE, NOW, node, nodeIds, tenant } from "../make.ts";

describe("a duration", () => {
  it.each([
    [-5, "0 s"],
    [1, "1 s"],
    [59_000, "59 s"],
    [59_001, "1 min"],
    [60_000, "1 min"],
    [60_001, "2 min"],
    [59 * MINUTE, "59 min"],
    [59 * MINUTE + 1, "1 h"],
    [61 * MINUTE, "1 h 1 min"],
    [25 * 60 * MINUTE, "25 h"],
  ])("of %i ms is %s", (ms, expected) => {
    expect(durationText(ms)).toBe(expected);
  });

  it("counts one node in the singular", () => {
    expect([0, 1, 2].map(nodesText)).toEqual(["0 nodes", "1 node", "2 nodes"]);
  });
});

describe("a relaxed request", () => {
  it.each<{ constraints: Partial<Constraints>; expected: string[] }>([
    { constraints: {}, expected: [] },
    { constraints: { gpuType: "H100" }, expected: ["any GPU instead of H100"] },
    {
      constraints: { gpuType: "H100", gpuCount: 4 },
      expected: ["any GPU instead of H100", "nodes without GPUs as well"],
    },
    { constraints: { memoryBytes: 1 }, expected: ["nodes with less memory as well"] },
    { constraints: { cpuCores: 1 }, expected: ["nodes with fewer cores as well"] },
    {
      constraints: { features: ["a", "b"] },
      expected: ["nodes without the feature a as well", "nodes without the feature b as well"],
    },
    { constraints: { topology: "tight" }, expected: ["nodes in any groups instead of few"] },
    { constraints: { requiredNodes: nodeIds("a") }, expected: ["other nodes than those required by name"] },
    { constraints: { excludedNodes: nodeIds("a") }, expected: ["the excluded nodes as well"] },
    { constraints: { requireConformance: true }, expected: ["nodes of different fingerprints"] },
    { constraints: { requireUnifiedMemory: true }, expected: ["nodes without unified memory as well"] },
    { constraints: { maxGroups: 1 }, expected: ["more than one group"] },
    { constraints: { maxGroups: 3 }, expected: ["more than 3 groups"] },
    { constraints: { preferSameNuma: true, allowCxlMemory: true, storageMBps: 5 }, expected: [] },
  ])("of $constraints has $expected", ({ constraints, expected }) => {
    expect(relaxations({ ...NO_CONSTRAINTS, ...constraints }).map(({ text }) => text)).toEqual(expected);
  });

  it("drops one constraint and keeps all others", () => {
    const all: Constraints = { ...NO_CONSTRAINTS, gpuType: "H100", gpuCount: 2, features: ["a", "b"], maxGroups: 2 };
    const relaxed = relaxations(all).map(({ constraints }) => constraints);
    expect(relaxed).toEqual([
      { ...all, gpuType: "" },
      { ...all, gpuType: "", gpuCount: 0 },
      { ...all, features: ["b"] },
      { ...all, features: ["a"] },
      (({ maxGroups: _, ...rest }) => rest)(all),
    ]);
  });

  it("is tried for a dozen constraints at most", () => {
    const features = Array.from({ length: 30 }, (_, i) => `f${i}`);
    expect(withoutConstraints(job(1, { constraints: { features } }))).toHaveLength(12);
  });
});

describe("a variant", () => {
  it("has fewer nodes, up to the same maximum", () => {
    const variant = withNodes(job(1, { nodes: 4, max: 6 }), 2);
    expect(variant).toMatchObject({ kind: "nodes", text: "2 nodes instead of 4", change: { nodes: "2-6" } });
    expect(variant.pending).toMatchObject({ minNodes: 2, maxNodes: 6 });
    expect(withNodes(job(1, { nodes: 1, max: 1 }), 1).change).toEqual({ nodes: "1" });
  });

  it("has a shorter walltime, in whole seconds", () => {
    const variant = withWalltime(job(1, { minutes: 90 }), 60 * MINUTE + 999);
    expect(variant.text).toBe("a walltime of 1 h 1 min instead of 1 h 30 min");
    expect(variant.change).toEqual({ walltime: "3600s" });
    expect(withWalltime(job(1, { minutes: null }), MINUTE).text).toBe("a walltime of 1 min instead of no limit");
  });

  it.each([
    { name: "ends before the instant, grace included", instants: [60], walltime: 600, expected: [59] },
    { name: "is in whole seconds when short", instants: [2], walltime: 600, expected: [1.5] },
    { name: "is longest first, each once", instants: [30, 60, 60.2, 45], walltime: 600, expected: [59, 44, 29] },
    { name: "is shorter than the request", instants: [60], walltime: 59, expected: [] },
    { name: "is never shorter than ten seconds", instants: [0.6], walltime: 600, expected: [] },
    { name: "of ten seconds is tried", instants: [40 / 60], walltime: 600, expected: [10 / 60] },
    { name: "is never in the past", instants: [-5], walltime: 600, expected: [] },
  ])("$name", ({ instants, walltime, expected }) => {
    const at = instants.map((minutes) => NOW + Math.round(minutes * MINUTE));
    expect(walltimesBefore(NOW, at, walltime * MINUTE).map((ms) => ms / MINUTE)).toEqual(expected);
  });

  it("of an unbounded request may have any walltime, eight at most", () => {
    const at = Array.from({ length: 20 }, (_, i) => NOW + (10 + i) * MINUTE);
    const found = walltimesBefore(NOW, at, null);
    expect(found).toHaveLength(8);
    expect(found[0]).toBe(28 * MINUTE);
  });
});

describe("a shortfall", () => {
  it("is named by constraint, a feature by its name", () => {
    expect(shortfallText({ kind: "feature", wanted: "nvme" })).toBe("without the feature nvme");
    expect(shortfallField({ kind: "feature", wanted: "nvme" })).toBe("features nvme");
    expect(shortfallText({ kind: "gpu_count", wanted: 4, has: 1 })).toBe("too few GPUs");
  });

  const nodes = [
    node("a", { gpuCount: 4 }),
    busy("b"),
    node("c", { free: false, usable: false, notFreeBecause: "drained" }),
  ];
  it.each<{ name: string; fields: Parameters<typeof jobFrom>[2]; expected: string }>([
    {
      name: "of hardware and of state",
      fields: { nodes: 2, constraints: { gpuCount: 2 } },
      expected: "1 of the 3 there are suit it (drained: 1, too few GPUs: 2)",
    },
    {
      name: "of excluded nodes",
      fields: { nodes: 2, constraints: { excludedNodes: nodeIds("a", "zz") } },
      expected: "1 of the 3 there are suit it (drained: 1, excluded: 1)",
    },
    {
      name: "of a required node",
      fields: { constraints: { requiredNodes: nodeIds("c") } },
      expected: "2 of the 3 there are suit it (drained: 1); not all of its required nodes can",
    },
    {
      name: "of the request itself",
      fields: { constraints: { requiredNodes: nodeIds("a", "b") } },
      expected: "2 nodes are required by name, but at most 1 asked for",
    },
  ])("$name has figures", ({ fields, expected }) => {
    const draft = draftOf({ nodes });
    expect(missing(draft.machine, jobFrom(draft, 1, fields))).toBe(expected);
  });
});

describe("the state of a tenant", () => {
  const nodes = ["a", "b", "c", "d"].map((id) => node(id));
  const sentences = (fields: Partial<TenantInput>): readonly string[] => {
    const pending = job(1, { nodes: 2 });
    const { record } = recordCycle(input({ nodes, pending: [pending], tenants: [tenant("physics", fields)] }));
    const own = record as CycleRecord;
    return tenantText(own, jobOn(own.decision.draft, pending));
  };
  it.each<{ name: string; fields: Partial<TenantInput>; expected: RegExp[] }>([
    {
      name: "below its share",
      fields: { fairShareMilli: 500, nodesInUse: 1 },
      expected: [/uses 25 % of the cluster now, its fair share is 50 %: it is below/],
    },
    { name: "without a share", fields: { fairShareMilli: 0 }, expected: [] },
    {
      name: "with one allowed allocation",
      fields: { fairShareMilli: 0, maxConcurrentAllocations: 1, running: 1 },
      expected: [/^Tenant physics runs 1 of the 1 allocation it may run\.$/],
    },
    {
      name: "within its burst allowance",
      fields: { fairShareMilli: 500, burstAllowanceMilli: 1000 },
      expected: [/below its share/],
    },
    {
      name: "beyond its burst allowance",
      fields: { fairShareMilli: 500, burstAllowanceMilli: 999 },
      expected: [/below its share/, /exceed the burst allowance \(99\.9 % of the share\)/],
    },
    {
      name: "with a budget hardly used",
      fields: { fairShareMilli: 0, budgetUsedMilli: 800 },
      expected: [/^80 % of its budget is used\.$/],
    },
    {
      name: "with a budget nearly used up",
      fields: { fairShareMilli: 0, budgetUsedMilli: 801 },
      expected: [/^80\.1 % of its budget is used, which lowers its score\.$/],
    },
  ])("$name is in sentences", ({ fields, expected }) => {
    const found = sentences(fields);
    expect(found).toHaveLength(expected.length);
    for (const [i, pattern] of expected.entries()) expect(found[i]).toMatch(pattern);
  });
});
