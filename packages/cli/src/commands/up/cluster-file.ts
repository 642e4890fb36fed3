// `cluster.json` in the data directory: the addresses and processes of the cluster. This file also claims the directory:
// a second `up` fails while the first holds the lock, and processes orphaned by a killed `up` are stopped first.

import { createHash } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { sep } from "node:path";
import { sleep } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import type { DataDirLayout } from "./layout.ts";

export interface ClusterDescription {
  readonly url: string;
  readonly grpc: string;
  readonly data_dir: string;
  readonly nodes: readonly string[];
  readonly pid: number;
  /** By program or node name. */
  readonly pids: Readonly<Record<string, number>>;
}

const ORPHAN_DEADLINE_MS = 10_000;

export function writeClusterFile({ clusterFile }: DataDirLayout, description: ClusterDescription): void {
  const partial = `${clusterFile}.partial`;
  writeFileSync(partial, `${JSON.stringify(description, null, 2)}\n`);
  renameSync(partial, clusterFile);
}

/** Returns the function that releases the directory. */
export async function claimDataDir(layout: DataDirLayout, note: (text: string) => void): Promise<() => Promise<void>> {
  const release = await lockDataDir(layout.dataDir);
  const before = readClusterFile(layout.clusterFile);
  if (release === null) {
    // The lock decides: the file may be missing, or left by an earlier cluster.
    const who = before === null ? "" : ` (process ${before.pid}, ${before.url})`;
    throw new ProblemError("conflict", {
      detail: `a cluster is already running from ${layout.dataDir}${who}`,
      hint: "Use that cluster, stop it with Ctrl-C, or choose another directory with --data-dir.",
    });
  }
  await stopOrphans(layout, note);
  return release;
}

/** Stops the processes of a cluster whose `up` has died. */
export async function stopOrphans(
  { clusterFile, dataDir }: Pick<DataDirLayout, "clusterFile" | "dataDir">,
  note: (text: string) => void,
): Promise<void> {
  const pids = Object.values(readClusterFile(clusterFile)?.pids ?? {});
  const left = pids.filter((pid) => isOurs(pid, dataDir));
  if (left.length === 0) return;
  note(`Stopping ${left.length} ${left.length === 1 ? "process" : "processes"} of an earlier cluster`);
  for (const pid of left) signalProcess(pid, "SIGTERM");
  const startedAt = Date.now();
  while (left.some((pid) => isOurs(pid, dataDir))) {
    if (Date.now() - startedAt > ORPHAN_DEADLINE_MS) {
      for (const pid of left) if (isOurs(pid, dataDir)) signalProcess(pid, "SIGKILL");
    }
    await sleep(50);
  }
}

function readClusterFile(path: string): ClusterDescription | null {
  try {
    const value = JSON.parse(readFileSync(path, "utf8")) as Partial<ClusterDescription>;
    return typeof value.pid === "number" && typeof value.pids === "object" ? (value as ClusterDescription) : null;
  } catch {
    return null;
  }
}

/** Process ids are reused, so the command line must also name a path in `dataDir`. */
function isOurs(pid: number, dataDir: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8")
      .split("\0")
      .some((word) => word === dataDir || word.startsWith(dataDir + sep));
  } catch {
    return false;
  }
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has already ended.
  }
}

/**
 * Locks the data directory with an abstract socket, which the kernel frees however the process dies: no stale file and
 * no reused process id can block a cluster. Returns the release function, or null when another process holds the lock.
 * `dataDir` must be free of symbolic links.
 */
function lockDataDir(dataDir: string): Promise<(() => Promise<void>) | null> {
  const name = `\0lattice-up-${createHash("sha256").update(dataDir).digest("hex").slice(0, 32)}`;
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") resolve(null);
      else reject(error);
    });
    server.listen(name, () => {
      server.unref();
      resolve(() => new Promise((done) => server.close(() => done())));
    });
  });
}
