// The memory of a node: its NUMA domains with their CPUs and distances, CXL expanders, and superchips, where a CPU and
// its GPU share memory. A node with one plain domain has no topology, since there is nothing to choose.

import type { MemoryDomain, MemoryInterconnect, MemoryTopology } from "@lattice/core";
import { isSuperchip } from "@lattice/core";
import { numbersOf, type Sysfs } from "./base/sysfs.ts";
import type { GpuInventory } from "./gpus/base/inventory.ts";

const NODES = "sys/devices/system/node";
const BYTES_PER_KB = 1024;
/** The kernel's distance of a domain to itself. */
const OWN_DISTANCE = 10;
/** Bandwidth of local memory; distances are relative to it. */
const LOCAL_MBPS = 100_000;

interface NodeMemory {
  readonly topology: MemoryTopology | undefined;
  /** Memory behind CXL, in addition to local memory. */
  readonly cxlBytes: number;
  /** Memory that the kernel counts although it belongs to an expander or a GPU. */
  readonly remoteBytes: number;
  readonly unified: boolean;
}

export function readMemory(fs: Sysfs, gpus: GpuInventory): NodeMemory {
  const cxlBytes = expanderBytes(fs);
  const nodes = fs
    .list(NODES)
    .flatMap((name) => (/^node\d+$/.test(name) ? [Number(name.slice("node".length))] : []))
    .map((numa) => ({
      numa,
      cpus: numbersOf(fs.read(`${NODES}/node${numa}/cpulist`)),
      bytes: memoryOf(fs.read(`${NODES}/node${numa}/meminfo`)),
      distances: fs.read(`${NODES}/node${numa}/distance`).split(/\s+/).map(Number),
    }));
  const near = gpus.units.map((unit) => ({ unit, numa: numaOf(fs, unit.pci) }));
  const unified = gpus.units.some((unit) => isSuperchip(unit.model));
  // A superchip's GPU memory appears as domains without CPUs, which belong to the domain next to them. Expanders have
  // domains without CPUs too.
  const kept = nodes.filter(({ cpus }) => cpus.length > 0 || (!unified && cxlBytes > 0));
  const domains: MemoryDomain[] = kept.map(({ numa, cpus, bytes }, id) => {
    const own = near.filter((gpu) => gpu.numa === numa || (gpu.numa === null && kept.length === 1));
    const gpuBytes = own.reduce((sum, { unit }) => sum + unit.memoryBytes, 0);
    const joined = own.some(({ unit }) => isSuperchip(unit.model));
    return {
      id,
      kind: joined ? "unified" : cpus.length === 0 ? "cxl" : "dram",
      capacityBytes: joined && own.some(({ unit }) => unit.vendor === "nvidia") ? bytes + gpuBytes : bytes,
      numaNode: numa,
      cpus,
      gpus: own.map(({ unit }) => unit.index),
    };
  });
  const numas = kept.map(({ numa }) => numa);
  const trivial = domains.length <= 1 && !domains.some((domain) => domain.kind === "unified");
  return {
    topology: trivial ? undefined : { domains, interconnects: [...apart(kept, numas), ...coherent(domains, gpus)] },
    cxlBytes,
    remoteBytes: nodes.reduce((sum, { cpus, bytes }) => (cpus.length === 0 ? sum + bytes : sum), 0),
    unified: domains.some((domain) => domain.kind === "unified"),
  };
}

/** Returns null when the kernel knows none, as in most virtual machines. */
export function numaOf(fs: Sysfs, pci: string): number | null {
  const text = pci === "" ? "" : fs.read(`sys/bus/pci/devices/${pci}/numa_node`);
  const numa = text === "" ? -1 : Number(text);
  return numa >= 0 ? numa : null;
}

const memoryOf = (meminfo: string): number => Number(/MemTotal:\s+(\d+) kB/.exec(meminfo)?.[1] ?? 0) * BYTES_PER_KB;

interface Numa {
  readonly numa: number;
  readonly cpus: readonly number[];
  readonly distances: readonly number[];
}

/** A distance of 21 is memory that is 2.1 times as far, and counted as that much slower. */
function apart(nodes: readonly Numa[], numas: readonly number[]): MemoryInterconnect[] {
  return nodes.flatMap(({ distances, cpus }, a) =>
    nodes.flatMap((other, b) => {
      const distance = distances[numas[b] ?? -1];
      if (b <= a || distance === undefined || !(distance > 0)) return [];
      const kind = cpus.length === 0 || other.cpus.length === 0 ? ("cxl_switch" as const) : ("numa_link" as const);
      return [{ a, b, kind, bandwidthMBps: Math.floor((LOCAL_MBPS * OWN_DISTANCE) / distance) }];
    }),
  );
}

/** The link within one domain. */
const coherent = (domains: readonly MemoryDomain[], { coherentMBps }: GpuInventory): MemoryInterconnect[] =>
  coherentMBps === 0
    ? []
    : domains.flatMap(({ id, kind }) =>
        kind === "unified" ? [{ a: id, b: id, kind: "coherent_fabric" as const, bandwidthMBps: coherentMBps }] : [],
      );

/** Volatile memory of the devices on the CXL bus. */
const expanderBytes = (fs: Sysfs): number =>
  fs
    .list("sys/bus/cxl/devices")
    .filter((name) => /^mem\d+$/.test(name))
    .reduce((sum, name) => sum + (Number(fs.read(`sys/bus/cxl/devices/${name}/ram/size`)) || 0), 0);
