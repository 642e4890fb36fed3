// How busy the GPUs of this node are, asked of NVML and of rocm-smi as discovery does. A driver that is slow or in trouble has no answer,
// which is no fault here: the look at the hardware finds those.

import { askNvmlLoad } from "./ask-nvml.ts";
import { askRocmLoad } from "./rocm.ts";

/** From 0 to 1, by GPU, in the order in which they are offered; null: not told. Null for all: there are none, or nobody answers. */
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
