// Which kinds of hardware suit an allocation best inside the node, for those that care: the share of
// its cores and GPUs that fit into one memory domain. It orders kinds within equally good groups.

import type { Constraints } from "@lattice/core";
import type { Machine } from "../machine/machine.ts";
import { memoryLocality } from "./memory.ts";

/** By kind, between 0 and 1; null when the allocation does not care or no kind tells. */
export function kindMerit(machine: Machine, constraints: Constraints): Float64Array | null {
  if (constraints.preferSameNuma !== true) return null;
  if (machine.kinds.every((kind) => kind.memoryTopology === undefined)) return null;
  const { cpuCores, gpuCount } = constraints;
  return Float64Array.from(machine.kinds, (kind) => memoryLocality(kind.memoryTopology, { cpuCores, gpuCount }));
}
