// The memory and GPU topology that a node registers, and the constraints that use them.

import type { Capabilities, Command, Constraints, GpuTopology } from "@lattice/core";
import { describeShortfall, hasUnifiedMemory, shortfalls, usableMemory } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { createCluster, nodeId, plan, register, spec, submit, verdict } from "./support/cluster.ts";

const plain: Capabilities = {
  cpuCores: 8,
  memoryBytes: 512,
  gpuType: "",
  gpuCount: 0,
  features: [],
  hostname: "",
  kernel: "",
  isolation: "",
  hollow: false,
};

const lacking = (wanted: Partial<Constraints>, offer: Partial<Capabilities>): readonly string[] =>
  shortfalls({ ...spec().resources.constraints, ...wanted }, nodeId("n1"), { ...plain, ...offer }).map(
    describeShortfall,
  );

describe("memory", () => {
  it.each([
    ["GH200", true],
    ["gh200", true],
    ["MI300A", true],
    ["MI300X", false],
    ["H100", false],
    ["", false],
  ])("a node with %s shares it between CPU and GPU: %s", (gpuType, expected) => {
    expect(hasUnifiedMemory({ ...plain, gpuType })).toBe(expected);
    expect(lacking({ requireUnifiedMemory: true }, { gpuType })).toEqual(
      expected ? [] : ["has no memory that CPU and GPU share"],
    );
  });

  it("is shared where a domain is marked as shared", () => {
    const domain = { id: 0, kind: "unified" as const, capacityBytes: 1, numaNode: 0, cpus: [0], gpus: [0] };
    expect(hasUnifiedMemory({ ...plain, memoryTopology: { domains: [domain], interconnects: [] } })).toBe(true);
  });

  it("behind expanders counts only for specs that allow it", () => {
    const offer = { ...plain, cxlMemoryBytes: 2048 };
    expect([usableMemory(offer, false), usableMemory(offer, true)]).toEqual([512, 2560]);
    expect(usableMemory(plain, true), "a node without expanders").toBe(512);
    expect(lacking({ memoryBytes: 1024 }, offer)).toEqual(["has 512 bytes of memory of 1024"]);
    expect(lacking({ memoryBytes: 1024, allowCxlMemory: true }, offer)).toEqual([]);
  });
});

describe("a placement that must be of one fingerprint", () => {
  const placed = (...fingerprints: string[]): string => {
    const nodes = fingerprints.map((conformance, i) => register(`n${i}`, { conformance }));
    const wanted = submit({ nodes: fingerprints.length, resources: { requireConformance: true } });
    const c = createCluster(...nodes, wanted);
    const outcome = c.one(
      plan(
        c.state,
        1,
        [...fingerprints.keys()].map((i) => `n${i}`),
      ),
    );
    const [placement] = outcome.kind === "accepted" ? (outcome.placements ?? []) : [];
    return placement?.refusal?.code ?? "good";
  };

  it.each([
    { fingerprints: ["x", "x"], expected: "good" },
    { fingerprints: ["x", "y"], expected: "constraint_unmet" },
    { fingerprints: ["", ""], expected: "constraint_unmet" },
    { fingerprints: [""], expected: "good" },
  ])("$fingerprints: $expected", ({ fingerprints, expected }) => {
    expect(placed(...fingerprints)).toBe(expected);
  });
});

describe("registration", () => {
  const gpu = { index: 0, vendor: "nvidia" as const, model: "H100", memoryBytes: 1, partitioned: false };
  const link = { a: 0, b: 1, kind: "nvlink" as const, bandwidthMBps: 450_000 };
  const good: GpuTopology = { gpus: [gpu, { ...gpu, index: 1 }], links: [link], nicAffinity: { 0: "hsn0" } };
  const telling = (capabilities: Partial<Capabilities>): Command =>
    register("n1", { capabilities: { ...plain, ...capabilities } });

  it("accepts a topology whose links refer to its own GPUs", () => {
    expect(verdict(createCluster().one(telling({ gpuTopology: good, powerWatts: 700, cxlMemoryBytes: 1 })))).toBe(
      "accepted",
    );
  });

  it.each<[string, Partial<Capabilities>]>([
    ["a link to nowhere", { gpuTopology: { ...good, links: [{ ...link, b: 7 }] } }],
    ["a device twice", { gpuTopology: { ...good, gpus: [gpu, gpu] } }],
    ["half a megabyte", { gpuTopology: { ...good, links: [{ ...link, bandwidthMBps: 0.5 }] } }],
    ["negative power", { powerWatts: -1 }],
    ["a part of a byte", { cxlMemoryBytes: 0.5 }],
    [
      "domains joined to nothing",
      { memoryTopology: { domains: [], interconnects: [{ a: 0, b: 1, kind: "numa_link", bandwidthMBps: 1 }] } },
    ],
  ])("refuses %s", (_what, capabilities) => {
    expect(verdict(createCluster().one(telling(capabilities)))).toBe("invalid_argument");
  });
});
