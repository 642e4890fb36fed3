// The utilization of the node's GPUs, from NVML and rocm-smi. A driver in trouble has no answer, which is not reported
// as a fault here: the hardware survey finds it.

import { askNvmlLoad } from "./ask-nvml.ts";
import { askRocmLoad } from "./rocm.ts";

/**
 * Utilization from 0 to 1 by GPU, in the order of the inventory, with null where it is unknown. Returns null when
 * there are no GPUs or no driver answers.
 */
export async function askLoad({
  nvml,
  rocm,
}: {
  readonly nvml: string;
  readonly rocm: string;
}): Promise<readonly (number | null)[] | null> {
  const [nvidia, amd] = await Promise.all([askNvmlLoad(nvml), askRocmLoad(rocm)]);
  return nvidia === null && amd === null ? null : [...(nvidia ?? []), ...(amd ?? [])];
}
