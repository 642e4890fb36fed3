// The program `lattice-gpu-clear`: zeroes the memory of every GPU that it sees and writes, as JSON, how many bytes of each.
// A separate process, because a faulty driver can hang or crash its caller, and because a context on a GPU takes hundreds
// of megabytes.
//
//   CUDA_VISIBLE_DEVICES=GPU-... lattice-gpu-clear LIBRARY

import { clearGpus } from "./cuda.ts";

const [, , path = "libcuda.so.1"] = process.argv;

try {
  const koffi = await import("koffi");
  process.stdout.write(JSON.stringify(clearGpus(koffi.default ?? koffi, path)));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
