// Cleans up after a temporary cluster whose `up` was killed. The guard is a process that reads a pipe from `up`; when
// the pipe closes, it stops the programs of the cluster and removes its files. After an orderly stop nothing is left to
// do. A cluster with a data directory needs no guard: the next `up` stops the orphans.

import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { stopOrphans } from "./cluster-file.ts";
import { clusterFileIn } from "./layout.ts";

/** Enough for a guard that finds nothing to clean up. */
const GUARD_END_MS = 5_000;

/** Returns the function that ends the guard. */
export function startGuard(dataDir: string): () => Promise<void> {
  const program = fileURLToPath(new URL("../../cli/dist/lattice.js", import.meta.url));
  const guard = spawn(process.execPath, [program, "up", "--guard", dataDir], {
    // In its own session neither Ctrl-C nor a closed terminal reaches it.
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  const ended = new Promise<void>((resolve) => {
    guard.once("exit", () => resolve());
    // The cluster works without a guard; only a killed `up` would leave processes behind.
    guard.once("error", () => resolve());
  });
  guard.stdin?.on("error", () => {});
  guard.unref();
  return async () => {
    guard.stdin?.end();
    const timer = setTimeout(() => guard.kill("SIGKILL"), GUARD_END_MS);
    await ended;
    clearTimeout(timer);
  };
}

/** The guard process: waits for the end of `up`, then cleans up. */
export async function runGuard(dataDir: string, alive: Readable): Promise<void> {
  await new Promise<void>((resolve) => {
    alive.once("end", resolve).once("close", resolve).once("error", resolve).resume();
  });
  await stopOrphans({ dataDir, clusterFile: clusterFileIn(dataDir) }, () => {});
  rmSync(dataDir, { recursive: true, force: true });
}
