// Calls of podman on this agent's own store: listing and removing containers and images.

import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { HELPER_PATH } from "../../base/executable.ts";
import { execFile } from "../../base/programs.ts";
import { CONTAINER_PREFIX } from "../prologue/attempt-holdings.ts";

export interface ContainerStore {
  /** Path of podman. */
  readonly podman: string;
  /** Path of the OCI runtime that podman calls, or of the script around it. */
  readonly runtime: string;
  /** Where podman keeps images and the state of containers. */
  readonly folder: string;
  /** Registries that speak plain HTTP. */
  readonly insecure: readonly string[];
}

export const CALL_TIMEOUT_MS = 60_000;

/** Options of every call. */
export const baseWords = ({ runtime, folder }: ContainerStore): readonly string[] => [
  ...["--root", join(folder, "store"), "--runroot", runRoot(folder)],
  ...["--cgroup-manager", "cgroupfs", "--runtime", runtime],
];

/** Maximum path length of podman, because socket addresses include it. */
const MAX_RUN_ROOT_LENGTH = 50;

/** Next to the store, or at a short path when that would be too long. */
function runRoot(folder: string): string {
  const beside = join(folder, "run");
  if (beside.length <= MAX_RUN_ROOT_LENGTH) return beside;
  return `/run/lattice-${createHash("sha256").update(folder).digest("hex").slice(0, 12)}`;
}

/** Removes remains of a container after podman itself was killed. */
export async function removeContainer(store: ContainerStore, name: string): Promise<void> {
  await call(
    store,
    ["rm", "-f", "-v", "-t", "0", "--ignore", name],
    CALL_TIMEOUT_MS,
    AbortSignal.timeout(CALL_TIMEOUT_MS),
  );
}

export async function removeImage(store: ContainerStore, id: string): Promise<void> {
  await call(store, ["rmi", "-f", id], CALL_TIMEOUT_MS, AbortSignal.timeout(CALL_TIMEOUT_MS));
}

/**
 * Returns the names of all containers in this agent's store. A store without records is not queried: podman is slow,
 * and nothing may start on the node meanwhile.
 */
export async function listContainers(store: ContainerStore): Promise<readonly string[]> {
  if (!hasRecorded(store)) return [];
  const words = ["ps", "-a", "--format", "{{.Names}}"];
  const { stdout } = await call(store, words, CALL_TIMEOUT_MS, AbortSignal.timeout(CALL_TIMEOUT_MS));
  return stdout.split("\n").filter((name) => name.startsWith(CONTAINER_PREFIX));
}

function hasRecorded({ folder }: ContainerStore): boolean {
  try {
    const kinds = readdirSync(join(folder, "store")).filter((name) => name.endsWith("-containers"));
    return kinds.some((kind) => existsSync(join(folder, "store", kind, "containers.json")));
  } catch {
    return false;
  }
}

interface Called {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export function call(
  store: ContainerStore,
  words: readonly string[],
  timeout: number,
  signal: AbortSignal,
): Promise<Called> {
  const env = { PATH: HELPER_PATH, HOME: "/root" };
  return new Promise((resolve, reject) => {
    execFile(store.podman, [...baseWords(store), ...words], { timeout, signal, env }, (error, stdout, stderr) => {
      if (signal.aborted) return reject(signal.reason);
      resolve({ code: error === null ? 0 : Number(error.code ?? 1) || 1, stdout, stderr });
    });
  });
}
