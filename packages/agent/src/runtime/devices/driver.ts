// The files of NVIDIA's driver that a container needs when no CDI specification provides them: libraries that must
// match the running kernel module, and nvidia-smi. CUDA images search for them at these paths.

import { basename } from "node:path";

export interface DriverFile {
  readonly from: string;
  readonly to: string;
}

export const DRIVER_LIBRARIES = "/usr/local/nvidia/lib64";
export const DRIVER_PROGRAMS = "/usr/local/nvidia/bin";

/** Libraries for compute and management, not for graphics. */
const WANTED =
  /^lib(?:cuda|cudadebugger|nvidia-(?:ml|cfg|nvvm|opencl|compiler|gpucomp|ptxjitcompiler|fatbinaryloader|allocator|pkcs11(?:-openssl3)?|tileiras))\.so(?:\.[\d.]+)?$/;

/**
 * `listing`: the output of `ldconfig -p`; the loader uses the first of each name. `machine`: the architecture in
 * brackets.
 */
export function driverLibraries(listing: string, machine: string): readonly DriverFile[] {
  const found = new Map<string, string>();
  for (const line of listing.split("\n")) {
    const [, name = "", kinds = "", from = ""] = /^\s+(\S+) \(([^)]*)\) => (\/\S+)$/.exec(line) ?? [];
    if (!WANTED.test(name) || found.has(name)) continue;
    if (!kinds.split(",").includes(machine)) continue;
    found.set(name, from);
  }
  return [...found].map(([name, from]) => ({ from, to: `${DRIVER_LIBRARIES}/${name}` }));
}

/** The architecture name of Node in ldconfig's spelling. */
export const loaderMachine = (arch: string): string => (arch === "arm64" ? "AArch64" : "x86-64");

export const driverPrograms = (paths: readonly string[]): readonly DriverFile[] =>
  paths.map((from) => ({ from, to: `${DRIVER_PROGRAMS}/${basename(from)}` }));
