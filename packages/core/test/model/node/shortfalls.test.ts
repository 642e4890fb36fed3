// Shortfalls: what a node lacks for a request. The same predicate places work and explains why it waits, so each rule
// has its boundary and its sentence here.

import { type Constraints, describeShortfall, fits, NO_CONSTRAINTS, type NodeOffer, shortfalls } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nodeId } from "../../support/cluster.ts";

const OFFER: NodeOffer = {
  cpuCores: 8,
  memoryBytes: 1000,
  gpuType: "H100",
  gpuCount: 4,
  features: ["nvme", "ib"],
  cxlMemoryBytes: 500,
};

const N1 = nodeId("n1");
const lacking = (change: Partial<Constraints>, offer: Partial<NodeOffer> = {}): readonly string[] =>
  shortfalls({ ...NO_CONSTRAINTS, ...change }, N1, { ...OFFER, ...offer }).map(describeShortfall);

describe("a node", () => {
  it.each<[string, Partial<Constraints>]>([
    ["no constraint", {}],
    ["exactly its cores", { cpuCores: 8 }],
    ["exactly its memory", { memoryBytes: 1000 }],
    ["exactly its GPUs", { gpuCount: 4 }],
    ["its GPU type in other letters", { gpuType: "h100" }],
    ["all its features", { features: ["ib", "nvme"] }],
    ["memory of its expanders, where they may count", { memoryBytes: 1500, allowCxlMemory: true }],
    ["another node excluded", { excludedNodes: [nodeId("n2")] }],
    ["soft wishes only", { preferSameNuma: true, topology: "tight", memoryPolicy: "bind" }],
  ])("fits a request with %s", (_name, change) => {
    expect(lacking(change)).toEqual([]);
    expect(fits({ ...NO_CONSTRAINTS, ...change }, N1, OFFER)).toBe(true);
  });

  it.each<[Partial<Constraints>, string]>([
    [{ cpuCores: 9 }, "has 8 cores of 9"],
    [{ memoryBytes: 1001 }, "has 1000 bytes of memory of 1001"],
    [{ memoryBytes: 1501, allowCxlMemory: true }, "has 1500 bytes of memory of 1501"],
    [{ memoryBytes: 1001, allowCxlMemory: false }, "has 1000 bytes of memory of 1001"],
    [{ gpuCount: 5 }, "has 4 GPUs of 5"],
    [{ gpuType: "A100" }, "has H100 where A100 is requested"],
    [{ features: ["nvme", "bigmem"] }, "lacks the feature bigmem"],
    [{ features: ["NVME"] }, "lacks the feature NVME"],
    [{ requireUnifiedMemory: true }, "has no memory that CPU and GPU share"],
    [{ excludedNodes: [N1] }, "is excluded"],
  ])("does not fit %j: it %s", (change, sentence) => {
    expect(lacking(change)).toEqual([sentence]);
    expect(fits({ ...NO_CONSTRAINTS, ...change }, N1, OFFER)).toBe(false);
  });

  it("without a GPU is described as such", () => {
    expect(lacking({ gpuType: "H100" }, { gpuType: "", gpuCount: 0 })).toEqual(["has no GPU where H100 is requested"]);
  });

  it("lists every shortfall at once, in a fixed order", () => {
    const all = lacking({
      excludedNodes: [N1],
      gpuType: "A100",
      gpuCount: 8,
      memoryBytes: 2000,
      requireUnifiedMemory: true,
      cpuCores: 16,
      features: ["x", "y"],
    });
    expect(all).toEqual([
      "is excluded",
      "has H100 where A100 is requested",
      "has 4 GPUs of 8",
      "has 1000 bytes of memory of 2000",
      "has no memory that CPU and GPU share",
      "has 8 cores of 16",
      "lacks the feature x",
      "lacks the feature y",
    ]);
  });

  it("that fits a request also fits a smaller one", () => {
    const amount = fc.integer({ min: 0, max: 20 });
    const wish = fc.record({ cpuCores: amount, gpuCount: amount, memoryBytes: fc.integer({ min: 0, max: 2000 }) });
    fc.assert(
      fc.property(wish, fc.integer({ min: 0, max: 100 }), (wanted, percent) => {
        const request = { ...NO_CONSTRAINTS, ...wanted };
        const part = (n: number): number => Math.floor((n * percent) / 100);
        const smaller: Constraints = {
          ...NO_CONSTRAINTS,
          cpuCores: part(wanted.cpuCores),
          gpuCount: part(wanted.gpuCount),
          memoryBytes: part(wanted.memoryBytes),
        };
        if (fits(request, N1, OFFER)) expect(fits(smaller, N1, OFFER)).toBe(true);
        if (!fits(smaller, N1, OFFER)) expect(fits(request, N1, OFFER)).toBe(false);
      }),
    );
  });
});
