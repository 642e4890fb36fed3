// Chooses the part of a shared node that an attempt gets: cores, memory and GPUs of one memory domain where it has
// enough, else GPUs by their links, else the lowest numbers. The attempt's environment names the part, and the kernel
// enforces it where it can. An exclusive attempt gets the whole node.

import { chooseGpus, colocate, type GpuTopology, type MemoryTopology, type Spot } from "@lattice/core";
import type { pb } from "@lattice/wire";
import { PrologueError } from "../../base/prologue-error.ts";
import type { GpuUnit } from "../../discovery/gpus/base/inventory.ts";

/** The resources to share. */
export interface NodeInventory {
  readonly gpuCount: number;
  /** Empty when only a flag states the number of GPUs. */
  readonly units: readonly GpuUnit[];
  readonly gpuTopology?: GpuTopology;
  readonly memoryTopology?: MemoryTopology;
}

export interface NodePart {
  readonly gpus: readonly number[];
  /** `null` for any core. */
  readonly cpus: readonly number[] | null;
  /** Numbers of NUMA nodes; `null` for any. */
  readonly memory: readonly number[] | null;
}

export interface NodeShares {
  /** Throws when too little is left: the server's view was wrong. */
  take(key: string, share: pb.RunLimits): NodePart;
  /** Marks the share of an attempt from an earlier run of the agent. */
  keep(key: string, part: NodePart): void;
  release(key: string): void;
}

/** `inside` is called each time: GPUs can be partitioned while the agent runs. */
export function nodeShares(inside: () => NodeInventory): NodeShares {
  const held = new Map<string, NodePart>();
  const others = (key: string): NodePart[] => [...held].flatMap(([other, part]) => (other === key ? [] : [part]));
  return {
    take(key, share) {
      const taken = others(key);
      const part = freePart(inside(), share, {
        gpus: new Set(taken.flatMap((part) => part.gpus)),
        cpus: new Set(taken.flatMap((part) => part.cpus ?? [])),
      });
      held.set(key, part);
      return part;
    },
    keep: (key, part) => void held.set(key, part),
    release: (key) => void held.delete(key),
  };
}

interface Taken {
  readonly gpus: ReadonlySet<number>;
  readonly cpus: ReadonlySet<number>;
}

function freePart(inside: NodeInventory, share: pb.RunLimits, taken: Taken): NodePart {
  const { gpuCount: wanted, cpuCores } = share;
  const all = Array.from({ length: inside.gpuCount }, (_, gpu) => gpu);
  const free = new Set(all.filter((gpu) => !taken.gpus.has(gpu)));
  if (free.size < wanted) {
    const detail = `${wanted} GPUs requested, and ${free.size} of ${inside.gpuCount} are free`;
    throw new PrologueError("devices", detail);
  }
  const spots = spotsFor(inside, share, free, taken.cpus);
  const [only] = spots ?? [];
  const beside = spots?.length === 1 && only !== undefined ? new Set(domainGpus(inside, only, free)) : free;
  const numas = (spots ?? []).flatMap(({ domain }) => numaOf(inside, domain));
  return {
    gpus: bestOf(inside, wanted, beside.size >= wanted ? beside : free),
    cpus: spots === null || cpuCores === 0 ? null : spots.flatMap((spot) => spot.cpus).sort((a, b) => a - b),
    memory: spots === null || !fitsInto(inside, spots, share) ? null : numas.sort((a, b) => a - b),
  };
}

/** Returns null with one domain or none: then there is nothing to choose. */
function spotsFor(
  { memoryTopology, gpuTopology }: NodeInventory,
  { cpuCores, gpuCount }: pb.RunLimits,
  gpus: ReadonlySet<number>,
  takenCpus: ReadonlySet<number>,
): readonly Spot[] | null {
  if (memoryTopology === undefined || memoryTopology.domains.length < 2 || cpuCores + gpuCount === 0) return null;
  const cpus = new Set(memoryTopology.domains.flatMap((domain) => domain.cpus).filter((cpu) => !takenCpus.has(cpu)));
  const nicOf = (gpu: number): string | undefined => gpuTopology?.nicAffinity[String(gpu)];
  return colocate(memoryTopology, { cpuCores, gpuCount }, { cpus, gpus }, nicOf);
}

const domainGpus = (
  { memoryTopology }: NodeInventory,
  { domain }: Spot,
  free: ReadonlySet<number>,
): readonly number[] =>
  (memoryTopology?.domains.find(({ id }) => id === domain)?.gpus ?? []).filter((gpu) => free.has(gpu));

const numaOf = ({ memoryTopology }: NodeInventory, domain: number): number[] => {
  const numa = memoryTopology?.domains.find(({ id }) => id === domain)?.numaNode ?? null;
  return numa === null ? [] : [numa];
};

/** Memory is restricted to the domains of the cores only where it certainly suffices. */
function fitsInto({ memoryTopology }: NodeInventory, spots: readonly Spot[], limits: pb.RunLimits): boolean {
  const memoryBytes = memoryBytesOf(limits);
  if (memoryBytes === 0) return false;
  const chosen = new Set(spots.map(({ domain }) => domain));
  const capacity = (memoryTopology?.domains ?? [])
    .filter(({ id }) => chosen.has(id))
    .reduce((sum, { capacityBytes }) => sum + capacityBytes, 0);
  return memoryBytes <= capacity;
}

function bestOf(
  { gpuTopology, gpuCount }: NodeInventory,
  wanted: number,
  free: ReadonlySet<number>,
): readonly number[] {
  if (wanted === 0) return [];
  const known = gpuTopology !== undefined && gpuTopology.gpus.length === gpuCount;
  const chosen = known ? chooseGpus(gpuTopology, wanted, free) : null;
  return chosen?.gpus ?? [...free].sort((a, b) => a - b).slice(0, wanted);
}

/** An empty list hides all GPUs from CUDA and ROCm. Slices are identified by name only. */
export function gpuVariables({ units }: Pick<NodeInventory, "units">, gpus: readonly number[]): Record<string, string> {
  const list = gpus.join(",");
  const chosen = units.filter(({ index }) => gpus.includes(index));
  const sliced = chosen.some(({ partitioned }) => partitioned);
  return {
    CUDA_VISIBLE_DEVICES: sliced ? chosen.map(({ uuid }) => uuid).join(",") : list,
    // Numbered in bus order.
    CUDA_DEVICE_ORDER: "PCI_BUS_ID",
    ROCR_VISIBLE_DEVICES: list,
    LATTICE_GPUS: list,
  };
}

/**
 * Returns the device files of all other GPUs; a partitioned GPU stays visible to the attempts that have a slice of it.
 */
export function otherDevices({ units, gpuCount }: NodeInventory, gpus: readonly number[]): readonly string[] {
  const mine = new Set(gpus);
  if (units.length === 0) {
    const rest = Array.from({ length: gpuCount }, (_, gpu) => gpu).filter((gpu) => !mine.has(gpu));
    return rest.map((gpu) => `${NVIDIA_MAJOR}:${gpu}`);
  }
  const own = new Set(units.filter(({ index }) => mine.has(index)).map(({ device }) => device));
  return [...new Set(units.map(({ device }) => device).filter((device) => device !== "" && !own.has(device)))];
}

/** Major numbers of the device files; the minor number is that of the GPU. */
const NVIDIA_MAJOR = 195;

const BYTES_PER_GB = 1024 ** 3;

export const memoryBytesOf = ({ memoryGb }: Pick<pb.RunLimits, "memoryGb">): number =>
  Math.floor(memoryGb * BYTES_PER_GB);
