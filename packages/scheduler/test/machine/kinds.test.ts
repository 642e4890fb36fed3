// Kinds of hardware: which nodes are of one kind, and their rank by capacity.

import type { GpuTopology, VClusterId } from "@lattice/core";
import { describe, expect, it } from "vitest";
import type { NodeInput } from "../../src/index.ts";
import { rankKinds } from "../../src/machine/kind-rank.ts";
import { isSameHardware, numberKinds } from "../../src/machine/kinds.ts";
import { node } from "../make.ts";

const links: GpuTopology = { gpus: [], links: [], nicAffinity: {} };
const memory = { domains: [], interconnects: [] };

describe("kinds", () => {
  it.each<[string, Partial<NodeInput>, boolean]>([
    ["its id", { id: "b" as NodeInput["id"] }, true],
    ["its group", { group: "g9" as NodeInput["group"] }, true],
    ["its fingerprint", { conformance: "z" }, true],
    ["whether it is free", { free: false, notFreeBecause: "busy" }, true],
    ["whether it is usable", { usable: false }, true],
    ["cores", { cpuCores: 9 }, false],
    ["memory", { memoryBytes: 1 }, false],
    ["the number of GPUs", { gpuCount: 1 }, false],
    ["the type of GPU", { gpuType: "H100" }, false],
    ["features", { features: ["nvme"] }, false],
    ["CXL memory", { cxlMemoryBytes: 1 }, false],
    ["power", { powerWatts: 1 }, false],
    ["the lender", { lender: "other" as VClusterId }, false],
    ["GPU links", { gpuTopology: links }, false],
    ["memory domains", { memoryTopology: memory }, false],
  ])("nodes that differ in %s only are of one kind: %#", (_, change, expected) => {
    const a = node("a", { features: ["ib"] });
    const { kindOf } = numberKinds([a, { ...a, ...change }]);
    expect(kindOf[0] === kindOf[1]).toBe(expected);
  });

  it("are found again after many others", () => {
    const cores = [1, 2, 3, 4, 5, 6, 7, 1, 7, 2];
    const { kinds, kindOf } = numberKinds(cores.map((cpuCores, i) => node(`n${i}`, { cpuCores })));
    expect([...kindOf].map((kind) => (kinds[kind] as NodeInput).cpuCores)).toEqual(cores);
    expect(kinds).toHaveLength(7);
  });

  it("compare topologies by content where the objects differ", () => {
    const nodes = [links, { ...links }].map((gpuTopology, i) => node(`n${i}`, { gpuTopology }));
    expect([...numberKinds(nodes).kindOf]).toEqual([0, 0]);
  });

  it("compare features in order, and never join them", () => {
    const nodes = [["a", "b"], ["a b"], ["b", "a"], ["a", "b"]].map((features, i) => node(`n${i}`, { features }));
    expect([...numberKinds(nodes).kindOf]).toEqual([0, 1, 2, 0]);
  });
});

describe("the same hardware", () => {
  it.each<[string, Partial<NodeInput>, boolean]>([
    ["became busy", { free: false, notFreeBecause: "busy" }, true],
    ["was drained", { usable: false }, false],
    ["moved to another group", { group: "g9" as NodeInput["group"] }, false],
    ["has another fingerprint", { conformance: "z" }, false],
    ["has another id", { id: "b" as NodeInput["id"] }, false],
    ["lost a GPU", { gpuCount: 3 }, false],
  ])("a node that %s has it: %#", (_, change, expected) => {
    const a = node("a", { gpuCount: 4 });
    expect(isSameHardware(a, { ...a, ...change })).toBe(expected);
  });
});

describe("the rank of kinds", () => {
  const rankOf = (...kinds: Partial<NodeInput>[]): number[] => [
    ...rankKinds({ kinds: kinds.map((fields, i) => node(`n${i}`, fields)) }),
  ];
  it.each([
    { name: "more GPUs rank higher", kinds: [{ gpuCount: 8 }, { gpuCount: 0 }, { gpuCount: 4 }], expected: [2, 0, 1] },
    {
      name: "GPUs come before memory",
      kinds: [{ gpuCount: 1, memoryBytes: 1 }, { memoryBytes: 9999 }],
      expected: [1, 0],
    },
    {
      name: "memory comes before cores",
      kinds: [
        { memoryBytes: 2, cpuCores: 1 },
        { memoryBytes: 1, cpuCores: 9 },
      ],
      expected: [1, 0],
    },
    { name: "cores decide last", kinds: [{ cpuCores: 16 }, { cpuCores: 8 }], expected: [1, 0] },
    {
      name: "equal capacity shares a rank",
      kinds: [{ features: ["a"] }, { cpuCores: 16 }, { features: ["b"] }],
      expected: [0, 1, 0],
    },
    {
      name: "borrowed kinds rank above all own",
      kinds: [{ lender: "v" as VClusterId }, { gpuCount: 8 }],
      expected: [1, 0],
    },
  ])("$name", ({ kinds, expected }) => {
    expect(rankOf(...kinds)).toEqual(expected);
  });
});
