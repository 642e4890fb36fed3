// How well an allocation sits inside a node of one kind, between 0 and 1: the links of the GPUs it would
// get and the memory next to them. Links count more for allocations that take most of the GPUs, memory
// more for those that take most of the cores.

import type { Constraints } from "@lattice/core";
import type { NodeInput } from "../cycle-types.ts";
import { linkFitness } from "./gpus.ts";
import { memoryLocality } from "./memory.ts";

export function intraNodeFitness(kind: NodeInput, { cpuCores, gpuCount }: Constraints): number {
  const links = linkFitness(kind.gpuTopology, gpuCount);
  const memory = memoryLocality(kind.memoryTopology, { cpuCores, gpuCount });
  const share = linkShare(kind, { cpuCores, gpuCount });
  return share * links + (1 - share) * memory;
}

const GPU_HEAVY = 0.7;
const CPU_HEAVY = 0.3;
const MIXED = 0.5;

/** Half of what the node has makes it heavy. */
function linkShare(kind: NodeInput, { cpuCores, gpuCount }: Pick<Constraints, "cpuCores" | "gpuCount">): number {
  const manyGpus = gpuCount > 0 && 2 * gpuCount >= kind.gpuCount;
  const manyCores = cpuCores > 0 && 2 * cpuCores > kind.cpuCores;
  if (manyGpus === manyCores) return MIXED;
  return manyGpus ? GPU_HEAVY : CPU_HEAVY;
}
