// Which kinds of hardware suit an allocation that prefers one memory domain: the part of its cores and GPUs that fit
// into one. Orders kinds within equally good groups.

import type { Constraints } from "@lattice/core";
import type { Machine } from "../machine/machine.ts";
import { memoryLocality } from "./memory-locality.ts";

/** Returns the merit by kind, between 0 and 1; `null` without the preference or without known memory domains. */
export function kindMerit(machine: Machine, constraints: Constraints): Float64Array | null {
  if (constraints.preferSameNuma !== true) return null;
  if (machine.kinds.every((kind) => kind.memoryTopology === undefined)) return null;
  const { cpuCores, gpuCount } = constraints;
  return Float64Array.from(machine.kinds, (kind) => memoryLocality(kind.memoryTopology, { cpuCores, gpuCount }));
}
