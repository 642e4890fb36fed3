// Zeroes the memory of one GPU in a separate process, which is killed on timeout or cancellation. Without CUDA nothing
// can be cleared; AMD's GPUs are not cleared.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import { driverEnvironment, execFile } from "../base/programs.ts";
import type { GpuUnit } from "../discovery/gpus/base/inventory.ts";

/** Rejects when data may be left in the memory. */
export type Clear = (unit: GpuUnit, signal: AbortSignal) => Promise<void>;

const CUDA = "libcuda.so.1";
/** Creating a context without the persistence daemon takes seconds; zeroing takes a fraction of one. */
const DEADLINE_MS = 60_000;

/** A faulty GPU receives no work. */
export const isClearable = ({ vendor, fault }: GpuUnit): boolean => vendor === "nvidia" && fault === "";

/** `library`: a path, "none", or empty to search for it. Returns null without CUDA. */
export function gpuClearing(library: string, log: Logger): Clear | null {
  const path = library === "" ? findCuda() : library;
  if (path === null || path === "none") return null;
  return async (unit, signal) => {
    const began = performance.now();
    const bytes = await clearOne(path, unit.uuid, signal).catch((error: Error) => {
      throw new Error(`GPU ${unit.index} cannot be cleared: ${error.message}`);
    });
    log.debug({ gpu: unit.index, bytes, ms: Math.round(performance.now() - began) }, "a GPU was cleared");
  };
}

/** Settles when the process has ended and its GPU memory is released. */
function clearOne(library: string, uuid: string, signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new Error("cancelled"));
    const env = { ...driverEnvironment(), CUDA_VISIBLE_DEVICES: uuid };
    const how = { timeout: DEADLINE_MS, killSignal: "SIGKILL", env } as const;
    const stop = (): void => void child.kill("SIGKILL");
    const child = execFile(process.execPath, [clearProgram(), library], how, (error, answer, errors) => {
      signal.removeEventListener("abort", stop);
      if (error === null) return resolve(bytesIn(answer));
      const last = errors.trim().split("\n").at(-1) ?? "";
      const why = error.killed === true ? `no end in ${DEADLINE_MS / 1000} s` : last === "" ? error.message : last;
      reject(new Error(signal.aborted ? "it was stopped" : why));
    });
    signal.addEventListener("abort", stop, { once: true });
  });
}

function bytesIn(answer: string): number {
  try {
    return (JSON.parse(answer) as readonly number[]).reduce((sum, bytes) => sum + bytes, 0);
  } catch {
    return 0;
  }
}

/** The loader's cache: the library is not opened for this check. */
function findCuda(): string | null {
  try {
    return readFileSync("/etc/ld.so.cache").includes(CUDA) ? CUDA : null;
  } catch {
    return null;
  }
}

/** The path next to the bundled agent; from sources, the bundle of the last build. */
function clearProgram(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const beside = join(here, CLEAR);
  return existsSync(beside) ? beside : join(here, "..", "..", "dist", CLEAR);
}

const CLEAR = "lattice-gpu-clear.js";
