// MPICH before 4.2 over UCX can hang in MPI_Finalize: one rank blocks in a read from its PMI socket while another
// needs it to answer over the network. A small library, preloaded into ranks, lets UCX progress during that read. It
// is built with the agent, or compiled once on the node; without either the node lacks the capability.

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { builtBeside } from "../base/built-beside.ts";
import { HELPER_ENVIRONMENT, spawn } from "../base/programs.ts";
import { removeOwn } from "../files/own-tree.ts";
import { keptIn, nativeSource, openFolder, settle } from "./native-parts.ts";

const NAME = "lattice-mpi-finalize";

/** The source of the library on this node. */
export const FINALIZE_CAPABILITY = "mpi-finalize";

/** Resolves to null when the library was not built and cannot be compiled. */
export async function finalizeShim(dataDir: string, built = builtBeside(`${NAME}.so`)): Promise<string | null> {
  try {
    return built === null ? await compile(dataDir) : await keptIn(dataDir, built);
  } catch {
    return null;
  }
}

async function compile(dataDir: string): Promise<string | null> {
  const source = nativeSource("finalize", `${NAME}.c`);
  const digest = createHash("sha256").update(readFileSync(source)).digest("hex").slice(0, 8);
  const folder = await openFolder(dataDir);
  const library = join(folder, `${NAME}-${digest}.so`);
  if (existsSync(library)) return library;
  const made = `${library}.${process.pid}`;
  const flags = ["-O2", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", made];
  if (!(await run("cc", [...flags, source, "-ldl"]))) {
    await removeOwn(made);
    return null;
  }
  return settle(made, library);
}

const COMPILE_TIMEOUT_MS = 30_000;

function run(program: string, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: "ignore", timeout: COMPILE_TIMEOUT_MS, env: HELPER_ENVIRONMENT });
    child.once("error", () => resolve(false));
    child.once("exit", (code) => resolve(code === 0));
  });
}
