// The program `lattice-gpu-probe`: queries NVML about the GPUs of this node and writes the answer to standard output as
// JSON. A separate process, because a faulty driver can hang or crash its caller, and because the library's memory is
// freed with it.
//
//   lattice-gpu-probe LIBRARY [load]
//
// With `load` it reports only the utilization of each GPU.

import { NO_GPUS } from "./base/inventory.ts";
import { openNvml } from "./nvml/library.ts";
import { readLoad } from "./nvml/load.ts";
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
