// NVIDIA's management library by foreign function calls: the functions used, with their types. It is opened by name at
// run time, so the build and the installation do not need it. A function that an older driver lacks returns "absent",
// and its field is left out.

import type * as koffiModule from "koffi";

type Koffi = Pick<typeof koffiModule, "load">;
type IKoffiLib = koffiModule.LibraryHandle;

/** The return code of every NVML call; 0 is success. */
type Code = number;

export const OK: Code = 0;
/** Our own code: the function is missing in this library. */
const ABSENT: Code = -1;
/** The GPU has fallen off the bus, or needs a reset. */
export const LOST: readonly Code[] = [15, 16];

export interface Nvml {
  call(name: FunctionName, ...args: readonly unknown[]): Code;
  /** Reads a text that NVML writes into a buffer of this many bytes; null when there is none. */
  text(name: FunctionName, bytes: number, ...before: readonly unknown[]): string | null;
  /** Reads a number that NVML writes to a pointer; null when there is none. */
  number(name: FunctionName, ...before: readonly unknown[]): number | null;
  explain(code: Code): string;
}

/** Required functions. */
const NEEDED = ["nvmlInit_v2", "nvmlShutdown", "nvmlDeviceGetCount_v2", "nvmlDeviceGetHandleByIndex_v2"] as const;

const SIGNATURES = {
  nvmlInit_v2: [],
  nvmlShutdown: [],
  nvmlSystemGetDriverVersion: ["void *", "uint"],
  nvmlDeviceGetCount_v2: ["_Out_ uint *"],
  nvmlDeviceGetHandleByIndex_v2: ["uint", "_Out_ void **"],
  nvmlDeviceGetName: ["void *", "void *", "uint"],
  nvmlDeviceGetUUID: ["void *", "void *", "uint"],
  nvmlDeviceGetVbiosVersion: ["void *", "void *", "uint"],
  nvmlDeviceGetMemoryInfo: ["void *", "void *"],
  nvmlDeviceGetPciInfo_v3: ["void *", "void *"],
  nvmlDeviceGetMinorNumber: ["void *", "_Out_ uint *"],
  nvmlDeviceGetCudaComputeCapability: ["void *", "_Out_ int *", "_Out_ int *"],
  nvmlDeviceGetTemperature: ["void *", "uint", "_Out_ uint *"],
  nvmlDeviceGetTotalEccErrors: ["void *", "uint", "uint", "_Out_ uint64 *"],
  nvmlDeviceGetRemappedRows: ["void *", "_Out_ uint *", "_Out_ uint *", "_Out_ uint *", "_Out_ uint *"],
  nvmlDeviceGetUtilizationRates: ["void *", "void *"],
  nvmlDeviceGetMigMode: ["void *", "_Out_ uint *", "_Out_ uint *"],
  nvmlDeviceGetMaxMigDeviceCount: ["void *", "_Out_ uint *"],
  nvmlDeviceGetMigDeviceHandleByIndex: ["void *", "uint", "_Out_ void **"],
  nvmlDeviceGetGpuInstanceId: ["void *", "_Out_ uint *"],
  nvmlDeviceGetComputeInstanceId: ["void *", "_Out_ uint *"],
  nvmlDeviceGetTopologyCommonAncestor: ["void *", "void *", "_Out_ uint *"],
  nvmlDeviceGetNvLinkState: ["void *", "uint", "_Out_ uint *"],
  nvmlDeviceGetNvLinkRemotePciInfo_v2: ["void *", "uint", "void *"],
  nvmlDeviceGetNvLinkRemoteDeviceType: ["void *", "uint", "_Out_ uint *"],
  nvmlDeviceGetNvLinkVersion: ["void *", "uint", "_Out_ uint *"],
  nvmlDeviceGetFieldValues: ["void *", "int", "void *"],
} as const satisfies Record<string, readonly string[]>;

type FunctionName = keyof typeof SIGNATURES;

/** Throws when the library is missing or is not NVML. */
export function openNvml(koffi: Koffi, path: string): Nvml {
  const library = koffi.load(path);
  const functions = new Map<FunctionName, (...args: unknown[]) => Code>();
  for (const [name, types] of Object.entries(SIGNATURES) as [FunctionName, readonly string[]][]) {
    const found = functionOf(library, name, types);
    if (found !== null) functions.set(name, found);
  }
  const missing = NEEDED.filter((name) => !functions.has(name));
  if (missing.length > 0) throw new Error(`${path} lacks ${missing.join(", ")}`);
  const call = (name: FunctionName, ...args: readonly unknown[]): Code => functions.get(name)?.(...args) ?? ABSENT;
  const errorText = textFunction(library);
  return {
    call,
    text(name, bytes, ...before) {
      const buffer = Buffer.alloc(bytes);
      return call(name, ...before, buffer, bytes) === OK ? cText(buffer) : null;
    },
    number(name, ...before) {
      const out = [0];
      return call(name, ...before, out) === OK ? Number(out[0]) : null;
    },
    explain: (code) => errorText?.(code) ?? `NVML answers ${code}`,
  };
}

function functionOf(library: IKoffiLib, name: string, types: readonly string[]): ((...args: unknown[]) => Code) | null {
  try {
    return library.func(name, "int", [...types]) as (...args: unknown[]) => Code;
  } catch {
    return null;
  }
}

function textFunction(library: IKoffiLib): ((code: Code) => string) | null {
  try {
    return library.func("nvmlErrorString", "str", ["int"]) as (code: Code) => string;
  } catch {
    return null;
  }
}

export function cText(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString("utf8", 0, end === -1 ? bytes.length : end);
}
