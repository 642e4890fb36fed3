// Memory locality inside a node: the part of an allocation's cores and GPUs within one memory domain. A node without
// known domains counts as one domain.

import type { ColocationRequest, MemoryDomain, MemoryTopology } from "@lattice/core";

/** Returns the part of the requested cores and GPUs in the best domain, between 0 and 1. */
export function memoryLocality(topology: MemoryTopology | undefined, wish: ColocationRequest): number {
  const requested = wish.cpuCores + wish.gpuCount;
  if (topology === undefined || requested === 0) return 1;
  let best = 0;
  for (const domain of topology.domains) best = Math.max(best, coresAndGpusIn(domain, wish));
  return best === 0 ? 1 : best / requested;
}

const coresAndGpusIn = (domain: MemoryDomain, wish: ColocationRequest): number =>
  Math.min(wish.cpuCores, domain.cpus.length) + Math.min(wish.gpuCount, domain.gpus.length);
