// Inside a node: the choice of GPUs by links, of memory domains, and the value of a choice.

import { chooseGpus, colocate, type GpuTopology, type MemoryTopology, NO_CONSTRAINTS } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { linkFitness } from "../../src/fit/gpu-links.ts";
import { memoryLocality } from "../../src/fit/memory-locality.ts";
import { intraNodeFitness } from "../../src/fit/node-fitness.ts";
import { node } from "../make.ts";

const NVLINK = 450_000;
const PCIE = 64_000;

/** GPUs 0 to n-1, in islands of that size linked by NVLink, and PCIe between islands. */
function islands(count: number, size: number, nics: Record<string, string> = {}): GpuTopology {
  const gpus = Array.from({ length: count }, (_, index) => ({
    index,
    vendor: "nvidia" as const,
    model: "H100",
    memoryBytes: 80 * 2 ** 30,
    partitioned: false,
  }));
  const links = gpus.flatMap(({ index: a }) =>
    gpus
      .filter(({ index: b }) => a < b)
      .map(({ index: b }) =>
        Math.floor(a / size) === Math.floor(b / size)
          ? { a, b, kind: "nvlink" as const, bandwidthMBps: NVLINK }
          : { a, b, kind: "pcie" as const, bandwidthMBps: PCIE },
      ),
  );
  return { gpus, links, nicAffinity: nics };
}

describe("GPUs of a node", () => {
  it.each([
    { name: "one island holds it", count: 4, free: undefined, gpus: [0, 1, 2, 3], worst: NVLINK },
    { name: "the island that is whole", count: 3, free: [0, 2, 4, 5, 6], gpus: [4, 5, 6], worst: NVLINK },
    { name: "across islands when it must", count: 5, free: undefined, gpus: [0, 1, 2, 3, 4], worst: PCIE },
    { name: "one GPU", count: 1, free: [6, 7], gpus: [6], worst: Number.POSITIVE_INFINITY },
  ])("$name", ({ count, free, gpus, worst }) => {
    const chosen = chooseGpus(islands(8, 4), count, free === undefined ? undefined : new Set(free));
    expect(chosen).toEqual({ gpus, worstMBps: worst });
  });

  it("are not chosen when too few are free or none are requested", () => {
    expect(chooseGpus(islands(8, 4), 3, new Set([1, 2]))).toBeNull();
    expect(chooseGpus(islands(8, 4), 0)).toBeNull();
  });

  it("are preferred next to more NICs among equal sets", () => {
    const topology = islands(8, 4, { 4: "hsn0", 5: "hsn1", 6: "hsn1", 0: "hsn0" });
    expect(chooseGpus(topology, 2)?.gpus).toEqual([4, 5]);
  });

  it("include the slices of a partitioned GPU as small GPUs", () => {
    const sliced: GpuTopology = {
      gpus: Array.from({ length: 7 }, (_, index) => ({
        index,
        vendor: "nvidia" as const,
        model: "H100 1g.10gb",
        memoryBytes: 10 * 2 ** 30,
        partitioned: true,
      })),
      links: [],
      nicAffinity: {},
    };
    expect(chooseGpus(sliced, 1, new Set([3, 5]))?.gpus).toEqual([3]);
    expect(linkFitness(sliced, 1)).toBe(1);
  });

  it("have the best slowest link of all sets", () => {
    const graph = fc.integer({ min: 2, max: 6 }).chain((count) =>
      fc.record({
        count: fc.constant(count),
        wanted: fc.integer({ min: 2, max: count }),
        speeds: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 15, maxLength: 15 }),
      }),
    );
    fc.assert(
      fc.property(graph, ({ count, wanted, speeds }) => {
        const base = islands(count, 1);
        const links = base.links.map((link, i) => ({ ...link, bandwidthMBps: (speeds[i] ?? 0) * 1000 }));
        const speed = (a: number, b: number): number =>
          links.find((link) => link.a === Math.min(a, b) && link.b === Math.max(a, b))?.bandwidthMBps ?? 0;
        let best = -1;
        for (let set = 0; set < 1 << count; set += 1) {
          const members = [...Array(count).keys()].filter((gpu) => (set >> gpu) & 1);
          if (members.length !== wanted) continue;
          const pairs = members.flatMap((a) => members.filter((b) => a < b).map((b) => speed(a, b)));
          best = Math.max(best, Math.min(...pairs));
        }
        expect(chooseGpus({ ...base, links }, wanted)?.worstMBps).toBe(best);
      }),
      { numRuns: 300 },
    );
  });

  it("are chosen step by step where there are too many sets to compare", () => {
    expect(chooseGpus(islands(64, 8), 8)).toMatchObject({ worstMBps: NVLINK });
  });

  it.each([
    [undefined, 4, 1],
    [islands(8, 4), 1, 1],
    [islands(8, 4), 4, 1],
    [islands(8, 4), 8, PCIE / NVLINK],
  ])("have the expected fitness of links: case %#", (topology, count, expected) => {
    expect(linkFitness(topology, count)).toBeCloseTo(expected, 12);
  });
});

describe("memory of a node", () => {
  /** Two sockets of four cores and two GPUs each, a third domain of expanders, and a slow link. */
  const sockets: MemoryTopology = {
    domains: [
      { id: 0, kind: "dram", capacityBytes: 1024, numaNode: 0, cpus: [0, 1, 2, 3], gpus: [0, 1] },
      { id: 1, kind: "dram", capacityBytes: 1024, numaNode: 1, cpus: [4, 5, 6, 7], gpus: [2, 3] },
      { id: 2, kind: "cxl", capacityBytes: 8192, numaNode: 2, cpus: [], gpus: [] },
    ],
    interconnects: [{ a: 0, b: 1, kind: "numa_link", bandwidthMBps: 40_000 }],
  };
  const all = { cpus: new Set([0, 1, 2, 3, 4, 5, 6, 7]), gpus: new Set([0, 1, 2, 3]) };

  it.each([
    { cpuCores: 4, gpuCount: 2, expected: 1 },
    { cpuCores: 8, gpuCount: 0, expected: 0.5 },
    { cpuCores: 4, gpuCount: 4, expected: 0.75 },
    { cpuCores: 0, gpuCount: 0, expected: 1 },
  ])("$cpuCores cores and $gpuCount GPUs: $expected together", ({ expected, ...wish }) => {
    expect(memoryLocality(sockets, wish)).toBe(expected);
    expect(memoryLocality(undefined, wish)).toBe(1);
  });

  it("puts cores and GPUs into one domain, that with the NIC first", () => {
    const nicOf = (gpu: number): string | undefined => (gpu >= 2 ? "hsn0" : undefined);
    expect(colocate(sockets, { cpuCores: 2, gpuCount: 1 }, all)).toEqual([{ domain: 0, cpus: [0, 1], gpus: [0] }]);
    expect(colocate(sockets, { cpuCores: 2, gpuCount: 1 }, all, nicOf)).toEqual([
      { domain: 1, cpus: [4, 5], gpus: [2] },
    ]);
  });

  it("spans domains along links when one is too small, and reports when all are", () => {
    expect(colocate(sockets, { cpuCores: 6, gpuCount: 3 }, all)).toEqual([
      { domain: 0, cpus: [0, 1, 2, 3], gpus: [0, 1] },
      { domain: 1, cpus: [4, 5], gpus: [2] },
    ]);
    expect(colocate(sockets, { cpuCores: 9, gpuCount: 0 }, all)).toBeNull();
  });

  it("balances links and memory by the larger part of the request", () => {
    const kind = node("n", { cpuCores: 8, gpuCount: 4, gpuTopology: islands(4, 2), memoryTopology: sockets });
    const fitness = (cpuCores: number, gpuCount: number): number =>
      intraNodeFitness(kind, { ...NO_CONSTRAINTS, cpuCores, gpuCount });
    expect(fitness(2, 4)).toBeCloseTo(0.7 * (PCIE / NVLINK) + 0.3 * (4 / 6), 12);
    expect(fitness(6, 1)).toBeCloseTo(0.3 + 0.7 * (5 / 7), 12);
    expect(fitness(0, 0)).toBe(1);
  });
});
