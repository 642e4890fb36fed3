// Zeroes the memory of the GPUs that this process sees: allocates all free memory in blocks and sets it to zero.
// Memory of other processes is not touched. Uses CUDA's driver library, opened by name at run time.

import type * as koffiModule from "koffi";

type Koffi = Pick<typeof koffiModule, "load">;

const MAX_BLOCK = 1024 ** 3;
const SMALLEST_BLOCK = 2 * 1024 ** 2;
/** CUDA_ERROR_OUT_OF_MEMORY: no free memory of that size. */
const OUT_OF_MEMORY = 2;

const SIGNATURES = {
  cuInit: ["uint"],
  cuDeviceGetCount: ["_Out_ int *"],
  cuDeviceGet: ["_Out_ int *", "int"],
  cuCtxCreate_v2: ["_Out_ void **", "uint", "int"],
  cuCtxDestroy_v2: ["void *"],
  cuCtxSynchronize: [],
  cuMemAlloc_v2: ["_Out_ uint64 *", "size_t"],
  cuMemsetD8_v2: ["uint64", "uchar", "size_t"],
} as const satisfies Record<string, readonly string[]>;
type Name = keyof typeof SIGNATURES;

/** Returns how many bytes of each GPU were zeroed. Throws when the driver refuses. */
export function clearGpus(koffi: Koffi, path: string): readonly number[] {
  const library = koffi.load(path);
  const functions = new Map(
    Object.entries(SIGNATURES).map(([name, types]) => [name, library.func(name, "int", [...types])] as const),
  );
  const ask = (name: Name, ...args: readonly unknown[]): number => Number(functions.get(name)?.(...args));
  const call = (name: Name, ...args: readonly unknown[]): void => {
    const code = ask(name, ...args);
    if (code !== 0) throw new Error(`${name} answers ${code}`);
  };

  call("cuInit", 0);
  const count = [0];
  call("cuDeviceGetCount", count);
  return Array.from({ length: count[0] ?? 0 }, (_, ordinal) => {
    const device = [0];
    call("cuDeviceGet", device, ordinal);
    const context = [null];
    call("cuCtxCreate_v2", context, 0, device[0]);
    try {
      return zeroAll(ask, call);
    } finally {
      // Frees every block.
      ask("cuCtxDestroy_v2", context[0]);
    }
  });
}

function zeroAll(
  ask: (name: Name, ...args: readonly unknown[]) => number,
  call: (name: Name, ...args: readonly unknown[]) => void,
): number {
  let bytes = 0;
  for (let size = MAX_BLOCK; size >= SMALLEST_BLOCK; ) {
    const block = [0n];
    const code = ask("cuMemAlloc_v2", block, size);
    if (code === OUT_OF_MEMORY) {
      size /= 2;
      continue;
    }
    if (code !== 0) throw new Error(`cuMemAlloc_v2 answers ${code}`);
    call("cuMemsetD8_v2", block[0], 0, size);
    bytes += size;
  }
  call("cuCtxSynchronize");
  return bytes;
}
