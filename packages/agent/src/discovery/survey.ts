// One survey of the whole machine, assembled from the kernel, the drivers and the flags. Flags win: a site may want to
// use less than the machine has. It is repeated while the agent runs, so it keeps no state.

import { totalmem } from "node:os";
import type { GpuTopology, MemoryTopology } from "@lattice/core";
import type { Sysfs } from "./base/sysfs.ts";
import { type Disk, isOnNvme, NVME_SCRATCH, readDisks } from "./disks.ts";
import { type ExpectedHardware, findFaults } from "./faults.ts";
import { type Components, components, fingerprint } from "./fingerprint.ts";
import { askNvml } from "./gpus/ask-nvml.ts";
import { type GpuInventory, NO_GPUS } from "./gpus/base/inventory.ts";
import { askRocm } from "./gpus/rocm.ts";
import { gpuTopology } from "./gpus/topology.ts";
import { discoverHardware, type HardwareFlags, type NodeHardware } from "./hardware.ts";
import { readMemory } from "./memory.ts";
import { type Nic, nicAffinity, readNics } from "./nics.ts";

export interface Sources {
  readonly fs: Sysfs;
  /** Path of NVML; empty to search for it, "none" to skip it. */
  readonly nvml: string;
  /** Path of rocm-smi; likewise. */
  readonly rocm: string;
  readonly baseImage: string;
  /** Folder of scratch folders; empty when there is none. */
  readonly scratch: string;
}

export interface Survey {
  readonly hardware: NodeHardware;
  readonly gpus: GpuInventory;
  readonly nics: readonly Nic[];
  readonly disks: readonly Disk[];
  readonly components: Components;
  readonly conformance: string;
  readonly faults: readonly string[];
  /** Irregularities that are no fault. */
  readonly warnings: readonly string[];
  /** CPUs and GPUs share memory. */
  readonly unified: boolean;
  readonly atMs: number;
}

export async function surveyNode(flags: HardwareFlags, sources: Sources, known: ExpectedHardware): Promise<Survey> {
  const { fs, scratch } = sources;
  const found = await findGpus(sources);
  const gpus = limited(withDevices(fs, found ?? NO_GPUS), flags.gpuCount);
  const nics = readNics(fs);
  const affinity = nicAffinity(fs, gpus, nics);
  const memory = readMemory(fs, gpus);
  const hardware = withInside(
    discoverHardware({
      ...flags,
      features: [...flags.features, ...(scratch !== "" && isOnNvme(fs, scratch) ? [NVME_SCRATCH] : [])],
      gpuCount: flags.gpuCount ?? gpus.units.length,
      gpuType: flags.gpuType ?? commonModel(gpus),
      memoryGb: flags.memoryGb ?? (totalmem() - memory.remoteBytes) / BYTES_PER_GB,
      cxlMemoryGb: flags.cxlMemoryGb ?? memory.cxlBytes / BYTES_PER_GB,
    }),
    gpuTopology(fs, gpus, affinity),
    memory.topology,
  );
  const expected: ExpectedHardware = { ...known, units: flags.gpuCount ?? 0 };
  // A node configured without GPUs may still have the library installed.
  const anyExpected = expected.units > 0 || expected.boards > 0 || gpus.units.length > 0;
  const { gpuType, gpuCount } = hardware;
  const listed = components(fs, { gpuType, gpuCount, gpus, nics, baseImage: sources.baseImage });
  return {
    hardware,
    gpus,
    nics,
    disks: readDisks(fs),
    components: listed,
    conformance: fingerprint(listed),
    faults: findFaults(fs, anyExpected ? found : null, nics, expected),
    warnings: anyExpected ? [] : gpus.faults,
    unified: memory.unified,
    atMs: Date.now(),
  };
}

const BYTES_PER_GB = 1024 ** 3;

/** Returns null when no driver could be queried. */
async function findGpus({ nvml, rocm }: Sources): Promise<GpuInventory | null> {
  const [nvidia, amd] = await Promise.all([askNvml(nvml), askRocm(rocm)]);
  if (nvidia === null || amd === null) return nvidia ?? amd;
  // Some workstations have GPUs of both vendors; their GPUs are listed together.
  const from = nvidia.units.length;
  return {
    driver: [nvidia.driver, amd.driver].filter((driver) => driver !== "").join(", "),
    units: [...nvidia.units, ...amd.units.map((unit) => ({ ...unit, index: unit.index + from }))],
    ties: [...nvidia.ties, ...amd.ties.map((tie) => ({ ...tie, a: tie.a + from, b: tie.b + from }))],
    coherentMBps: Math.max(nvidia.coherentMBps, amd.coherentMBps),
    faults: [...nvidia.faults, ...amd.faults],
  };
}

/** The kernel reports faults that the vendor's tool does not. */
const withDevices = (fs: Sysfs, gpus: GpuInventory): GpuInventory => ({
  ...gpus,
  units: gpus.units.map((unit) => (unit.device !== "" ? unit : { ...unit, device: renderDevice(fs, unit.pci) })),
});

function renderDevice(fs: Sysfs, pci: string): string {
  const folder = `sys/bus/pci/devices/${pci}/drm`;
  const name = fs.list(folder).find((entry) => entry.startsWith("renderD"));
  return pci === "" || name === undefined ? "" : fs.read(`${folder}/${name}/dev`);
}

/** A site may offer fewer GPUs than the node has. */
function limited(gpus: GpuInventory, most: number | undefined): GpuInventory {
  if (most === undefined || gpus.units.length <= most) return gpus;
  const kept = ({ a, b }: { readonly a: number; readonly b: number }): boolean => a < most && b < most;
  return { ...gpus, units: gpus.units.slice(0, most), ties: gpus.ties.filter(kept) };
}

/** Returns the most common value; the first one among equals. */
function commonModel({ units }: GpuInventory): string {
  const counts = new Map<string, number>();
  for (const { model } of units) counts.set(model, (counts.get(model) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? "";
}

const withInside = (hardware: NodeHardware, gpu?: GpuTopology, memory?: MemoryTopology): NodeHardware => ({
  ...hardware,
  ...(gpu === undefined ? null : { gpuTopology: gpu }),
  ...(memory === undefined ? null : { memoryTopology: memory }),
});
