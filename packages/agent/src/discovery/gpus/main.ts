// The program `lattice-gpu-probe`: asks NVML about the GPUs of this node and writes what it is told to the
// standard output, as JSON. A process of its own, because a driver in trouble can hang or crash whoever
// calls it, and because what the library takes up in memory is then gone with it.
//
//   lattice-gpu-probe LIBRARY [load]
//
// With `load` it tells nothing but how busy each GPU is.

import { NO_GPUS } from "./inventory.ts";
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
