// The utilization of each GPU, from NVML: the part of the last interval in which any kernel ran. NVML reports none for
// a partitioned GPU.

import { type Nvml, OK } from "./library.ts";

/** More than any node has. */
const MAX_GPUS = 256;
/** nvmlUtilization_t: of the processors and of the memory, in percent. */
const UTILIZATION_BYTES = 8;

/** From 0 to 1 by GPU; null when unknown. */
export function readLoad(nvml: Nvml): readonly (number | null)[] {
  if (nvml.call("nvmlInit_v2") !== OK) return [];
  try {
    const count = Math.min(nvml.number("nvmlDeviceGetCount_v2") ?? 0, MAX_GPUS);
    return Array.from({ length: count }, (_, number) => loadOf(nvml, number));
  } finally {
    nvml.call("nvmlShutdown");
  }
}

function loadOf(nvml: Nvml, number: number): number | null {
  const handle: unknown[] = [null];
  if (nvml.call("nvmlDeviceGetHandleByIndex_v2", number, handle) !== OK) return null;
  const rates = Buffer.alloc(UTILIZATION_BYTES);
  if (nvml.call("nvmlDeviceGetUtilizationRates", handle[0], rates) !== OK) return null;
  return Math.min(1, rates.readUInt32LE(0) / 100);
}
