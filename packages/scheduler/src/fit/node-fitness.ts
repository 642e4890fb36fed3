// How well an allocation fits inside a node of one kind, between 0 and 1: the links of its GPUs and the memory next to
// them. Links weigh more for requests of most GPUs, memory for requests of most cores.

import type { Constraints } from "@lattice/core";
import type { NodeInput } from "../input/cycle-input.ts";
import { linkFitness } from "./gpu-links.ts";
import { memoryLocality } from "./memory-locality.ts";

export function intraNodeFitness(kind: NodeInput, { cpuCores, gpuCount }: Constraints): number {
  const links = linkFitness(kind.gpuTopology, gpuCount);
  const memory = memoryLocality(kind.memoryTopology, { cpuCores, gpuCount });
  const share = linkShare(kind, { cpuCores, gpuCount });
  return share * links + (1 - share) * memory;
}

const GPU_HEAVY = 0.7;
const CPU_HEAVY = 0.3;
const MIXED = 0.5;

/** A request of at least half of the node counts as most of it. */
function linkShare(kind: NodeInput, { cpuCores, gpuCount }: Pick<Constraints, "cpuCores" | "gpuCount">): number {
  const manyGpus = gpuCount > 0 && 2 * gpuCount >= kind.gpuCount;
  const manyCores = cpuCores > 0 && 2 * cpuCores > kind.cpuCores;
  if (manyGpus === manyCores) return MIXED;
  return manyGpus ? GPU_HEAVY : CPU_HEAVY;
}
