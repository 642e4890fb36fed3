// Cores and GPUs for an allocation that shares a node: from one memory domain where one has enough of both, else along
// the fastest links, and never more than is free.

import { type ColocationRequest, colocate, type MemoryDomain, type MemoryTopology } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const domain = (id: number, cpus: readonly number[], gpus: readonly number[], change: Partial<MemoryDomain> = {}) => ({
  id,
  kind: "dram" as const,
  capacityBytes: 1,
  numaNode: id,
  cpus,
  gpus,
  ...change,
});

/** Three sockets of four cores; the first two have two GPUs each; 0 and 2 are close. */
const SOCKETS: MemoryTopology = {
  domains: [
    domain(0, [0, 1, 2, 3], [0, 1]),
    domain(1, [4, 5, 6, 7], [2, 3]),
    domain(2, [8, 9, 10, 11], []),
    domain(3, [12, 13], [4], { kind: "cxl" }),
  ],
  interconnects: [
    { a: 0, b: 1, kind: "numa_link", bandwidthMBps: 10 },
    { a: 2, b: 0, kind: "numa_link", bandwidthMBps: 99 },
    { a: 1, b: 2, kind: "numa_link", bandwidthMBps: 20 },
  ],
};

const ALL = { cpus: new Set(Array.from({ length: 14 }, (_, n) => n)), gpus: new Set([0, 1, 2, 3, 4]) };
const wish = (cpuCores: number, gpuCount: number): ColocationRequest => ({ cpuCores, gpuCount });

describe("colocation", () => {
  it("uses the tightest domain that has enough of both", () => {
    expect(colocate(SOCKETS, wish(2, 0), ALL)).toEqual([{ domain: 2, cpus: [8, 9], gpus: [] }]);
    expect(colocate(SOCKETS, wish(4, 2), ALL)).toEqual([{ domain: 0, cpus: [0, 1, 2, 3], gpus: [0, 1] }]);
  });

  it("uses only free cores and GPUs", () => {
    const free = { cpus: new Set([1, 3, 4, 5, 6]), gpus: new Set([1, 2, 3]) };
    expect(colocate(SOCKETS, wish(2, 1), free)).toEqual([{ domain: 0, cpus: [1, 3], gpus: [1] }]);
    expect(colocate(SOCKETS, wish(3, 2), free)).toEqual([{ domain: 1, cpus: [4, 5, 6], gpus: [2, 3] }]);
  });

  it("prefers the domain whose GPUs have a NIC", () => {
    const nicOf = (gpu: number): string | undefined => (gpu >= 2 ? "nic0" : undefined);
    expect(colocate(SOCKETS, wish(1, 1), ALL, nicOf)).toEqual([{ domain: 1, cpus: [4], gpus: [2] }]);
    expect(colocate(SOCKETS, wish(1, 1), ALL)).toEqual([{ domain: 0, cpus: [0], gpus: [0] }]);
  });

  it("spreads along the fastest link when no domain has enough", () => {
    expect(colocate(SOCKETS, wish(6, 0), ALL)).toEqual([
      { domain: 0, cpus: [0, 1, 2, 3], gpus: [] },
      { domain: 2, cpus: [8, 9], gpus: [] },
    ]);
    expect(colocate(SOCKETS, wish(2, 3), ALL)).toEqual([
      { domain: 0, cpus: [0, 1], gpus: [0, 1] },
      { domain: 1, cpus: [], gpus: [2] },
    ]);
  });

  it.each([
    {
      name: "the lowest of equal domains",
      domains: [domain(1, [4, 5], []), domain(0, [0, 1], [])],
      cores: 2,
      first: 0,
    },
    {
      name: "the lowest of equal domains when it spreads",
      domains: [domain(1, [4, 5], []), domain(0, [0, 1], [])],
      cores: 3,
      first: 0,
    },
    {
      name: "the domain with the most GPUs when it spreads",
      domains: [domain(0, [0, 1, 2, 3, 4, 5], []), domain(1, [8, 9], [0, 1])],
      cores: 7,
      first: 1,
    },
    {
      name: "the largest of the domains with as many GPUs when it spreads",
      domains: [domain(0, [0, 1], []), domain(1, [4, 5, 6, 7], [])],
      cores: 5,
      first: 1,
    },
  ])("begins with $name, in whatever order the domains are listed", ({ domains, cores, first }) => {
    for (const listed of [domains, domains.toReversed()]) {
      const spots = colocate({ domains: listed, interconnects: [] }, wish(cores, 0), ALL);
      expect(spots?.[0]?.domain).toBe(first);
    }
  });

  it("adds the domain with the fastest link to the chosen ones, like a plain search", () => {
    const ids = [0, 1, 2, 3];
    const pairs = ids.flatMap((a) => ids.flatMap((b) => (a < b ? [[a, b] as const] : [])));
    const speeds = fc.array(fc.nat(9), { minLength: pairs.length, maxLength: pairs.length });
    const turns = fc.array(fc.boolean(), { minLength: pairs.length, maxLength: pairs.length });
    fc.assert(
      fc.property(speeds, turns, fc.integer({ min: 3, max: 8 }), (bandwidths, isTurned, cores) => {
        const interconnects = pairs.map(([a, b], n) => ({
          ...(isTurned[n] ? { a: b, b: a } : { a, b }),
          kind: "numa_link" as const,
          bandwidthMBps: bandwidths[n] ?? 0,
        }));
        const domains = ids.map((id) => domain(id, [2 * id, 2 * id + 1], []));
        const speed = (a: number, b: number): number =>
          bandwidths[pairs.findIndex(([x, y]) => x === Math.min(a, b) && y === Math.max(a, b))] ?? 0;
        const chosen: number[] = [0];
        while (2 * chosen.length < cores) {
          const reach = (id: number): number => Math.max(...chosen.map((member) => speed(member, id)));
          const left = ids.filter((id) => !chosen.includes(id));
          chosen.push(left.toSorted((a, b) => reach(b) - reach(a) || a - b)[0] ?? -1);
        }
        expect(colocate({ domains, interconnects }, wish(cores, 0), ALL)?.map((spot) => spot.domain)).toEqual(chosen);
      }),
      { numRuns: 300 },
    );
  });

  it("never uses the cores and GPUs of an expander", () => {
    expect(colocate(SOCKETS, wish(13, 0), ALL)).toBeNull();
    expect(colocate(SOCKETS, wish(0, 5), ALL)).toBeNull();
  });

  it("is empty for an empty request", () => {
    expect(colocate(SOCKETS, wish(0, 0), ALL)?.flatMap(({ cpus, gpus }) => [...cpus, ...gpus])).toEqual([]);
  });

  it("gives exactly the request, of free cores and GPUs, each once, or nothing", () => {
    const subset = (items: readonly number[]) => fc.subarray([...items]).map((list) => new Set(list));
    const free = fc.record({ cpus: subset([...ALL.cpus]), gpus: subset([...ALL.gpus]) });
    fc.assert(
      fc.property(free, fc.nat(14), fc.nat(5), (now, cpuCores, gpuCount) => {
        const spots = colocate(SOCKETS, wish(cpuCores, gpuCount), now);
        const usable = SOCKETS.domains.filter(({ kind }) => kind !== "cxl");
        const cores = usable.flatMap(({ cpus }) => cpus.filter((cpu) => now.cpus.has(cpu)));
        const gpus = usable.flatMap((one) => one.gpus.filter((gpu) => now.gpus.has(gpu)));
        expect(spots === null).toBe(cores.length < cpuCores || gpus.length < gpuCount);
        if (spots === null) return;
        const takenCores = spots.flatMap((spot) => spot.cpus);
        const takenGpus = spots.flatMap((spot) => spot.gpus);
        expect([takenCores.length, takenGpus.length]).toEqual([cpuCores, gpuCount]);
        expect(new Set(takenCores).size).toBe(cpuCores);
        expect(takenCores.every((cpu) => cores.includes(cpu)) && takenGpus.every((gpu) => gpus.includes(gpu))).toBe(
          true,
        );
      }),
      { numRuns: 500 },
    );
  });
});
