// Memory locality inside a node: what share of an allocation's cores and GPUs is together in one memory domain. A
// node that tells no domains counts as one domain.

import type { MemoryDomain, MemoryTopology, Wish } from "@lattice/core";

/** Share of the wanted cores and GPUs that the best domain holds, between 0 and 1. */
export function memoryLocality(topology: MemoryTopology | undefined, wish: Wish): number {
  const wanted = wish.cpuCores + wish.gpuCount;
  if (topology === undefined || wanted === 0) return 1;
  let best = 0;
  for (const domain of topology.domains) best = Math.max(best, held(domain, wish));
  return best === 0 ? 1 : best / wanted;
}

const held = (domain: MemoryDomain, wish: Wish): number =>
  Math.min(wish.cpuCores, domain.cpus.length) + Math.min(wish.gpuCount, domain.gpus.length);
