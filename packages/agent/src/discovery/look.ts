// A quick look for what is broken, between two surveys. NVIDIA's driver is asked again; AMD's tool takes too long
// for that, so the kernel is asked about those.

import { type Expected, findFaults } from "./faults.ts";
import { askNvml } from "./gpus/ask-nvml.ts";
import { readNics } from "./nics.ts";
import type { Sources, Survey } from "./survey.ts";

export async function lookForFaults(sources: Sources, last: Survey, expected: Expected): Promise<readonly string[]> {
  const { fs } = sources;
  const amd = last.gpus.units.filter(({ vendor }) => vendor === "amd");
  const hasNvidia = last.gpus.units.length > amd.length || last.faults.length > 0;
  const nvidia = hasNvidia ? await askNvml(sources.nvml) : null;
  if (nvidia === null && amd.length === 0) return findFaults(fs, null, readNics(fs), expected);
  const units = [...(nvidia?.units ?? []), ...amd];
  const faults = nvidia?.faults ?? [];
  return findFaults(fs, { ...last.gpus, units, faults }, readNics(fs), expected);
}
