// Cleans up after a temporary cluster whose `up` was killed. A process of its own holds the reading
// end of a pipe that closes with `up`, however that dies; it then stops the programs of the cluster
// and removes its files. After an orderly stop it finds nothing to do. A cluster with a data directory
// needs none: the next `up` on it clears away what was left.

import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { stopLeftBehind } from "./cluster-file.ts";
import { clusterFileIn } from "./layout.ts";

/** Long enough for a guard that only has to see that nothing is left. */
const GUARD_END_MS = 5_000;

/** Answers how to dismiss it. */
export function startGuard(dataDir: string): () => Promise<void> {
  const program = fileURLToPath(new URL("../../cli/dist/lattice.js", import.meta.url));
  const guard = spawn(process.execPath, [program, "up", "--guard", dataDir], {
    // A session of its own, so that neither Ctrl-C nor a closed terminal reaches it.
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  const ended = new Promise<void>((resolve) => {
    guard.once("exit", () => resolve());
    // Without a guard the cluster runs as well; only a killed `up` would leave something behind.
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

/** The guard's own life: wait for the end of `up`, then clear away. */
export async function watchOver(dataDir: string, alive: Readable): Promise<void> {
  await new Promise<void>((resolve) => {
    alive.once("end", resolve).once("close", resolve).once("error", resolve).resume();
  });
  await stopLeftBehind({ dataDir, clusterFile: clusterFileIn(dataDir) }, () => {});
  rmSync(dataDir, { recursive: true, force: true });
}
