// The program `lattice-gpu-probe`: queries NVML about the GPUs of this node and writes the answer to standard output as
// JSON. A separate process, because a faulty driver can hang or crash its caller, and because the library's memory is
// freed with it.
//
//   lattice-gpu-probe LIBRARY [load]
//
// With `load` it reports only the utilization of each GPU.

import { NO_GPUS } from "./base/inventory.ts";
import { type Nvml, OK, openNvml } from "./nvml/library.ts";
import { readNvml } from "./nvml/read.ts";

const [, , path = "libnvidia-ml.so.1", what] = process.argv;

async function read() {
  try {
    const koffi = await import("koffi");
    const nvml = openNvml(koffi.default ?? koffi, path);
    return what === "load" ? readLoad(nvml) : readNvml(nvml);
  } catch (error) {
    if (what === "load") return [];
    return { ...NO_GPUS, faults: [`NVML cannot be used: ${(error as Error).message}`] };
  }
}

process.stdout.write(JSON.stringify(await read()));

/** More than any node has. */
const MAX_GPUS = 256;
/** nvmlUtilization_t: of the processors and of the memory, in percent. */
const UTILIZATION_BYTES = 8;

/** From 0 to 1 by GPU; null when unknown. */
function readLoad(nvml: Nvml): readonly (number | null)[] {
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
