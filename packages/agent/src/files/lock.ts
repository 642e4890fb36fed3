// Keeps a second agent off the same data folder and state file: an flock on a file that only the agent's user can open.
// The kernel frees it with the process, so no stale lock file can keep a node from coming back, and no other user can
// take it, as they could take a name of a socket.

import { closeSync, constants, openSync } from "node:fs";
import { dirname, join } from "node:path";
import { HELPER_ENVIRONMENT, spawnSync } from "../base/programs.ts";
import { makeOwnFolderNow } from "./own-tree.ts";

/** Returns a function that unlocks. Throws when another agent has the folder. */
export const lockDataDir = (dataDir: string): (() => void) => lock("data directory", dataDir, join(dataDir, ".lock"));

/** Two agents with one state file would treat each other's work as stray. */
export const lockStateFile = (path: string): (() => void) => lock("state file", path, `${path}.lock`);

const LIMIT_MS = 10_000;
/** The exit code of `flock --nonblock` when another process has the lock. */
const TAKEN = 1;
/** The descriptor in the program; the lock belongs to the open file, which outlives the program here. */
const LOCK_FD = 3;

function lock(what: string, path: string, file: string): () => void {
  makeOwnFolderNow(dirname(file), 0o711);
  const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants;
  const opened = openSync(file, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
  const { status, error } = spawnSync("flock", ["-n", String(LOCK_FD)], {
    stdio: ["ignore", "ignore", "ignore", opened],
    timeout: LIMIT_MS,
    env: HELPER_ENVIRONMENT,
  });
  if (status === 0) return () => closeSync(opened);
  closeSync(opened);
  if (status === TAKEN) throw new Error(`another agent is using the ${what} ${path}`);
  throw new Error(`cannot lock the ${what} ${path}: ${error?.message ?? `flock ended with ${status}`}`);
}
