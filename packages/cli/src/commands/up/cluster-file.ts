// `cluster.json` in the data directory: how to reach the cluster, and the processes it consists of.
// It also guards the directory: a second `up` on it is refused while the first runs, and processes
// that a killed `up` left behind are stopped before new ones start.

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { sleep } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import type { Layout } from "./layout.ts";

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

export async function takeOver({ clusterFile, dataDir }: Layout, note: (text: string) => void): Promise<void> {
  const before = readClusterFile(clusterFile);
  if (before === null) return;
  if (before.pid !== process.pid && isOurs(before.pid, "up")) {
    throw new ProblemError("conflict", {
      detail: `a cluster is already running from ${dataDir} (process ${before.pid}, ${before.url})`,
      hint: "Use it, stop it with Ctrl-C, or choose another directory with --data-dir.",
    });
  }
  const left = Object.values(before.pids).filter((pid) => isOurs(pid, dataDir));
  if (left.length === 0) return;
  note(`Stopping ${left.length} processes that an earlier cluster left behind`);
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

/** A process id is used again by others, so its command line must bear `mark` as well. */
function isOurs(pid: number, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8")
      .split("\0")
      .some((word) => word.includes(mark));
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
