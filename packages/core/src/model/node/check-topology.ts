// Checks the topology that an agent reports: it must be small, and links must refer to listed devices. The scheduler
// trusts it afterwards.

import { isCount, isText, type Problems } from "../checks.ts";
import { MAX_GPU_TYPE_LENGTH } from "../spec/limits.ts";
import type { Capabilities } from "./node.ts";
import type { GpuTopology, MemoryTopology } from "./topology.ts";

/** Larger than any node; larger values would slow every cycle. */
const MAX_GPU_DEVICES = 256;
const MAX_MEMORY_DOMAINS = 256;
const MAX_CPUS = 65_536;

export function checkTopology(problems: Problems, { gpuTopology, memoryTopology }: Capabilities): void {
  if (gpuTopology !== undefined) {
    const rule = `must list at most ${MAX_GPU_DEVICES} devices, and link only those`;
    problems.unless(isSoundGpus(gpuTopology), "capabilities.gpu_topology", rule);
  }
  if (memoryTopology !== undefined) {
    const rule = `must list at most ${MAX_MEMORY_DOMAINS} domains, and join only those`;
    problems.unless(isSoundMemory(memoryTopology), "capabilities.memory_topology", rule);
  }
}

function isSoundGpus({ gpus, links, nicAffinity }: GpuTopology): boolean {
  const known = new Set(gpus.map((gpu) => gpu.index));
  if (gpus.length > MAX_GPU_DEVICES || known.size !== gpus.length) return false;
  if (links.length > MAX_GPU_DEVICES ** 2 || Object.keys(nicAffinity).length > MAX_GPU_DEVICES) return false;
  const sound = gpus.every(
    ({ index, model, memoryBytes }) =>
      isCount(index, 0, MAX_GPU_DEVICES - 1) &&
      isText(model, MAX_GPU_TYPE_LENGTH) &&
      isCount(memoryBytes, 0, Number.MAX_SAFE_INTEGER),
  );
  return sound && links.every(({ a, b, bandwidthMBps }) => known.has(a) && known.has(b) && isSpeed(bandwidthMBps));
}

function isSoundMemory({ domains, interconnects }: MemoryTopology): boolean {
  const known = new Set(domains.map((domain) => domain.id));
  if (domains.length > MAX_MEMORY_DOMAINS || known.size !== domains.length) return false;
  if (interconnects.length > MAX_MEMORY_DOMAINS ** 2) return false;
  const sound = domains.every(
    ({ id, capacityBytes, cpus, gpus }) =>
      isCount(id, 0, Number.MAX_SAFE_INTEGER) &&
      isCount(capacityBytes, 0, Number.MAX_SAFE_INTEGER) &&
      cpus.length <= MAX_CPUS &&
      gpus.length <= MAX_GPU_DEVICES,
  );
  return (
    sound && interconnects.every(({ a, b, bandwidthMBps }) => known.has(a) && known.has(b) && isSpeed(bandwidthMBps))
  );
}

const isSpeed = (bandwidthMBps: number): boolean => isCount(bandwidthMBps, 0, Number.MAX_SAFE_INTEGER);
