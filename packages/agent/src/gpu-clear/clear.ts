// Clears GPUs when an attempt has left them, so that the next one finds nothing of it in their memory. Each GPU is cleared
// by a process of its own, all at the same time. Where there is no CUDA nobody is started.

import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import type { GpuUnit } from "../discovery/gpus/inventory.ts";

export interface GpuClearing {
  /** Rejects, in words, when something may be left in one of them. */
  clear(units: readonly GpuUnit[]): Promise<void>;
}

const CUDA = "libcuda.so.1";
/** A context on a GPU without the persistence daemon takes seconds; zeroing it a fraction of one. */
const DEADLINE_MS = 60_000;

/** `library`: a path, "none", or empty for wherever it is. Null: there is none. */
export function gpuClearing(library: string, log: Logger): GpuClearing | null {
  const path = library === "" ? findCuda() : library;
  if (path === null || path === "none") return null;
  return {
    async clear(units) {
      const sound = units.filter(({ vendor, fault }) => vendor === "nvidia" && fault === "");
      const began = performance.now();
      const each = await Promise.allSettled(sound.map(({ uuid }) => clearOne(path, uuid)));
      const problems = each.flatMap((one, i) => (one.status === "rejected" ? [problemOf(sound[i], one.reason)] : []));
      if (problems.length > 0) throw new Error(problems.join("; "));
      const bytes = each.reduce((sum, one) => sum + (one.status === "fulfilled" ? one.value : 0), 0);
      if (sound.length > 0)
        log.debug({ gpus: sound.length, bytes, ms: Math.round(performance.now() - began) }, "GPUs were cleared");
    },
  };
}

const problemOf = (unit: GpuUnit | undefined, reason: unknown): string =>
  `GPU ${unit?.index} cannot be cleared: ${(reason as Error).message}`;

function clearOne(library: string, uuid: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, CUDA_VISIBLE_DEVICES: uuid };
    const how = { timeout: DEADLINE_MS, killSignal: "SIGKILL", encoding: "utf8", env } as const;
    execFile(process.execPath, [clearProgram(), library], how, (error, answer, errors) => {
      if (error === null) return resolve(bytesIn(answer));
      const last = errors.trim().split("\n").at(-1) ?? "";
      const why = error.killed === true ? `no end in ${DEADLINE_MS / 1000} s` : last === "" ? error.message : last;
      reject(new Error(why));
    });
  });
}

function bytesIn(answer: string): number {
  try {
    return (JSON.parse(answer) as readonly number[]).reduce((sum, bytes) => sum + bytes, 0);
  } catch {
    return 0;
  }
}

/** The loader's own list: nothing is opened to find out. */
function findCuda(): string | null {
  try {
    return readFileSync("/etc/ld.so.cache").includes(CUDA) ? CUDA : null;
  } catch {
    return null;
  }
}

/** Beside the bundled agent; from sources it is the bundle of the last build. */
function clearProgram(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const beside = join(here, CLEAR);
  return existsSync(beside) ? beside : join(here, "..", "..", "dist", CLEAR);
}

const CLEAR = "lattice-gpu-clear.js";
