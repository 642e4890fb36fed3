// A quick look for faults between two surveys. NVIDIA's driver is queried again; AMD's tool is too slow for that, so
// the kernel is queried instead.

import { type ExpectedHardware, findFaults } from "./faults.ts";
import { askNvml } from "./gpus/ask-nvml.ts";
import { readNics } from "./nics.ts";
import type { Sources, Survey } from "./survey.ts";

export async function lookForFaults(
  sources: Sources,
  last: Survey,
  expected: ExpectedHardware,
): Promise<readonly string[]> {
  const { fs } = sources;
  const amd = last.gpus.units.filter(({ vendor }) => vendor === "amd");
  const hasNvidia = last.gpus.units.length > amd.length || last.faults.length > 0;
  const nvidia = hasNvidia ? await askNvml(sources.nvml) : null;
  if (nvidia === null && amd.length === 0) return findFaults(fs, null, readNics(fs), expected);
  const units = [...(nvidia?.units ?? []), ...amd];
  const faults = nvidia?.faults ?? [];
  return findFaults(fs, { ...last.gpus, units, faults }, readNics(fs), expected);
}
