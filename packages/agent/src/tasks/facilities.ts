// The facilities for tasks on this node, detected and tested once at start: a mount namespace with its own /dev/shm,
// the network for libfabric, and the library that keeps old MPICH from hanging in MPI_Finalize.

import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { mountsProgram, whyNoMounts } from "../base/mounts-program.ts";
import { FINALIZE_CAPABILITY, finalizeShim } from "./finalize-shim.ts";
import { findPmix, type PmixMeans } from "./pmix-program.ts";
import type { NodeFabric } from "./spec.ts";

export interface Facilities {
  readonly ownSharedMemory: boolean;
  readonly shepherdProgram: string;
  /** Directory of the programs for jobs, such as `lattice`; "" when not installed. */
  readonly programs: string;
  fabric(): NodeFabric;
  readonly pmix: PmixMeans;
  /** For processes of the node itself. */
  readonly capabilities: readonly string[];
}

export async function findFacilities(dataDir: string): Promise<Facilities> {
  const provider = fabricProvider();
  const [preload, ownSharedMemory] = [await finalizeShim(dataDir), mayMountSharedMemory()];
  const pmix = findPmix(dataDir);
  return {
    ownSharedMemory,
    shepherdProgram: shepherdProgram(),
    programs: programFolder(),
    fabric: () => ({ provider, preload: preload ?? "" }),
    pmix,
    capabilities: [...(pmix.missing === null ? ["pmix"] : []), ...(preload === null ? [] : [FINALIZE_CAPABILITY])],
  };
}

export function fabricProvider(list: (folder: string) => readonly string[] = readOr): NodeFabric["provider"] {
  if (list("/sys/class/cxi").length > 0) return "cxi";
  return list("/sys/class/infiniband").length > 0 ? "verbs" : "tcp";
}

function readOr(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function mayMountSharedMemory(): boolean {
  const program = mountsProgram();
  return program !== null && whyNoMounts(program) === null;
}

/** The path next to the bundled agent; from sources, the bundle of the last build. */
function shepherdProgram(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const beside = join(here, SHEPHERD);
  return existsSync(beside) ? beside : join(here, "..", "..", "dist", SHEPHERD);
}

const SHEPHERD = "lattice-shepherd.js";

/** Directory of an installation with the other programs. */
export function programFolder(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  for (let folder = here; folder !== dirname(folder); folder = dirname(folder)) {
    const programs = join(folder, "node_modules", ".bin");
    if (existsSync(join(programs, "lattice"))) return programs;
  }
  return "";
}
