// Runs a separate process that queries NVML, and validates its output. Without the library no process is started. A
// driver that does not answer in time is a fault of the node, not of the agent.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { driverEnvironment, execFile } from "../../base/programs.ts";
import { type GpuInventory, NO_GPUS } from "./base/inventory.ts";

const NVML = "libnvidia-ml.so.1";
/** A node with eight GPUs and no persistence daemon takes some seconds. */
const DEADLINE_MS = 30_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** Returns null when this node has no such library. */
export function askNvml(library: string, deadlineMs = DEADLINE_MS): Promise<GpuInventory | null> {
  const path = library === "" ? findNvml() : library;
  if (path === null || path === "none") return Promise.resolve(null);
  return new Promise((resolve) => {
    const how = {
      timeout: deadlineMs,
      killSignal: "SIGKILL",
      maxBuffer: MAX_ANSWER_BYTES,
      env: driverEnvironment(),
    } as const;
    execFile(process.execPath, [probeProgram(), path], how, (error, answer, errors) => {
      if (error === null) return resolve(parseInventory(answer));
      const last = errors.trim().split("\n").at(-1) ?? "";
      const why = error.killed === true ? `no answer in ${deadlineMs / 1000} s` : last === "" ? error.message : last;
      resolve({ ...NO_GPUS, faults: [`NVML cannot be asked: ${why}`] });
    });
  });
}

/** Utilization is polled, so a late answer is useless. */
const LOAD_DEADLINE_MS = 5_000;

/**
 * Utilization from 0 to 1 by GPU, with null where it is unknown. Returns null when the node has no such library, or it
 * does not answer.
 */
export function askNvmlLoad(
  library: string,
  deadlineMs = LOAD_DEADLINE_MS,
): Promise<readonly (number | null)[] | null> {
  const path = library === "" ? findNvml() : library;
  if (path === null || path === "none") return Promise.resolve(null);
  return new Promise((resolve) => {
    const how = {
      timeout: deadlineMs,
      killSignal: "SIGKILL",
      maxBuffer: MAX_ANSWER_BYTES,
      env: driverEnvironment(),
    } as const;
    execFile(process.execPath, [probeProgram(), path, "load"], how, (error, answer) =>
      resolve(error === null ? parseLoad(answer) : null),
    );
  });
}

export function parseLoad(text: string): readonly (number | null)[] | null {
  try {
    const loads: unknown = JSON.parse(text);
    if (!Array.isArray(loads)) return null;
    return loads.map((load: unknown) => (typeof load === "number" && load >= 0 && load <= 1 ? load : null));
  } catch {
    return null;
  }
}

export function parseInventory(text: string): GpuInventory {
  try {
    const { driver, units, ties, coherentMBps, faults } = JSON.parse(text) as GpuInventory;
    if (Array.isArray(units) && Array.isArray(ties) && Array.isArray(faults)) {
      return { driver: String(driver), units, ties, coherentMBps: Number(coherentMBps), faults };
    }
  } catch {
    // Reported below.
  }
  return { ...NO_GPUS, faults: ["NVML cannot be asked: its answer makes no sense"] };
}

const FOLDERS = [
  "/usr/lib/x86_64-linux-gnu",
  "/usr/lib/aarch64-linux-gnu",
  "/usr/lib64",
  "/usr/lib",
  "/run/nvidia/lib64",
];

/** The loader's cache is checked first, without opening the library. */
function findNvml(): string | null {
  try {
    if (readFileSync("/etc/ld.so.cache").includes(NVML)) return NVML;
  } catch {
    // There is no loader cache.
  }
  const folder = FOLDERS.find((candidate) => existsSync(join(candidate, NVML)));
  return folder === undefined ? null : join(folder, NVML);
}

/** The path next to the bundled agent; from sources, the bundle of the last build. */
function probeProgram(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const beside = join(here, PROBE);
  return existsSync(beside) ? beside : join(here, "..", "..", "..", "dist", PROBE);
}

const PROBE = "lattice-gpu-probe.js";
