// How well the GPUs that an allocation would get are linked, by the choice that nodes make.

import { chooseGpus, type GpuTopology } from "@lattice/core";

/** Returns the slowest link of the best set over the fastest link of the node, between 0 and 1; 1 without links. */
export function linkFitness(topology: GpuTopology | undefined, count: number): number {
  if (topology === undefined || count < 2 || topology.links.length === 0) return 1;
  const chosen = chooseGpus(topology, count);
  if (chosen === null) return 1;
  const fastest = Math.max(...topology.links.map((link) => link.bandwidthMBps));
  return fastest <= 0 ? 1 : Math.min(1, chosen.worstMBps / fastest);
}
