// `cluster.json` in the data directory: how to reach the cluster, and the processes it consists of.
// It is also how a cluster takes over a directory: a second `up` is refused while the first holds it,
// and processes that a killed `up` left behind are stopped before new ones start.

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { sep } from "node:path";
import { sleep } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import type { Layout } from "./layout.ts";
import { lockDataDir } from "./lock.ts";

export interface ClusterDescription {
  readonly url: string;
  readonly grpc: string;
  readonly data_dir: string;
  readonly nodes: readonly string[];
  readonly pid: number;
  /** By program or node name. */
  readonly pids: Readonly<Record<string, number>>;
}

const LEFT_BEHIND_DEADLINE_MS = 10_000;

export function writeClusterFile({ clusterFile }: Layout, description: ClusterDescription): void {
  const partial = `${clusterFile}.partial`;
  writeFileSync(partial, `${JSON.stringify(description, null, 2)}\n`);
  renameSync(partial, clusterFile);
}

/** Answers how to give the directory back. */
export async function takeOver(layout: Layout, note: (text: string) => void): Promise<() => Promise<void>> {
  const release = await lockDataDir(layout.dataDir);
  const before = readClusterFile(layout.clusterFile);
  if (release === null) {
    // The file may not be written yet, or be that of an earlier one; the lock is what decides.
    const who = before === null ? "" : ` (process ${before.pid}, ${before.url})`;
    throw new ProblemError("conflict", {
      detail: `a cluster is already running from ${layout.dataDir}${who}`,
      hint: "Use it, stop it with Ctrl-C, or choose another directory with --data-dir.",
    });
  }
  await stopLeftBehind(layout, note);
  return release;
}

/** Stops the processes in the record of a cluster whose `up` is no more. */
export async function stopLeftBehind(
  { clusterFile, dataDir }: Pick<Layout, "clusterFile" | "dataDir">,
  note: (text: string) => void,
): Promise<void> {
  const pids = Object.values(readClusterFile(clusterFile)?.pids ?? {});
  const left = pids.filter((pid) => isOurs(pid, dataDir));
  if (left.length === 0) return;
  note(`Stopping ${left.length} ${left.length === 1 ? "process" : "processes"} that an earlier cluster left behind`);
  for (const pid of left) signalProcess(pid, "SIGTERM");
  const startedAt = Date.now();
  while (left.some((pid) => isOurs(pid, dataDir))) {
    if (Date.now() - startedAt > LEFT_BEHIND_DEADLINE_MS) {
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

/** A process id is used again by others, so its command line must also name something in `dataDir`. */
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
    // It has ended meanwhile, which is what was wanted.
  }
}
