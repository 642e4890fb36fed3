// Runs the chaos in its own network, mount and process namespaces: all its processes, networks and mounts end with the
// run. A killed run leaves a folder and empty control groups, which the next run removes.
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Report } from "./report.ts";
import { STOPPED } from "./stopped.ts";

export interface NamespaceRunOptions {
  readonly seed: number;
  /** Fault names; empty: all of them. */
  readonly faults: readonly string[];
  /** 0: each fault once. */
  readonly minutes: number;
  /** The least number of runs of each fault. */
  readonly rounds: number;
  /** Keeps the folder with logs and ledger after a good run, too. */
  readonly keep: boolean;
  readonly output: "inherit" | "ignore";
}

export interface NamespaceRunResult {
  readonly code: number;
  /** `null` when the run did not reach a verdict. */
  readonly report: Report | null;
  /** The folder with logs and ledger, if it was kept. */
  readonly kept: string | null;
}

/** About a minute: enough to see that nothing fundamental is broken. */
export const SHORT: readonly string[] = ["kill-leader", "pause-leader", "partition-node"];

const FOLDER = "lattice-chaos-";
const here = dirname(fileURLToPath(import.meta.url));
/** The first process of a process namespace must reap orphans; a shell does. */
const FIRST_PROCESS = ["sh", "-c", '"$@" & wait $!', "sh"];
const NAMESPACES = ["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private"];

export async function runInNamespaces(options: NamespaceRunOptions): Promise<NamespaceRunResult> {
  if (process.getuid?.() !== 0) throw new Error("the chaos needs root: it makes networks, disks and mounts of its own");
  sweep();
  const dir = mkdtempSync(join(tmpdir(), `${FOLDER}${process.pid}-`));
  const flags = ["--dir", dir, "--seed", String(options.seed), "--minutes", String(options.minutes)];
  flags.push("--rounds", String(options.rounds));
  const program = [
    process.execPath,
    "--import",
    "tsx",
    join(here, "main.ts"),
    ...flags,
    "--faults",
    options.faults.join(","),
  ];
  const child = spawn("unshare", [...NAMESPACES, ...FIRST_PROCESS, ...program], {
    cwd: join(here, "..", ".."),
    stdio: ["ignore", options.output, options.output],
  });
  // Ctrl-C reaches the run on its own, and this waits for its end. Any other signal ends all of it at once.
  const wait = (): void => undefined;
  const end = (): void => void child.kill("SIGKILL");
  process.on("SIGINT", wait).on("SIGTERM", end).on("SIGHUP", end);
  const code = await new Promise<number>((resolve) => {
    child.once("error", () => resolve(127));
    child.once("exit", (status) => resolve(status ?? STOPPED));
  });
  process.off("SIGINT", wait).off("SIGTERM", end).off("SIGHUP", end);
  const report = reportIn(dir);
  removeGroups();
  const kept = options.keep || ![0, STOPPED].includes(code) ? dir : null;
  if (kept === null) rmSync(dir, { recursive: true, force: true, maxRetries: 9 });
  return { code, report, kept };
}

function reportIn(dir: string): Report | null {
  try {
    return JSON.parse(readFileSync(join(dir, "report.json"), "utf8")) as Report;
  } catch {
    return null;
  }
}

/** Folders of killed runs. Folders that were kept on purpose contain a report. */
function sweep(): void {
  for (const name of readdirSync(tmpdir())) {
    const owner = /^lattice-chaos-(\d+)-/.exec(name)?.[1];
    if (owner === undefined || exists(Number(owner)) || reportIn(join(tmpdir(), name)) !== null) continue;
    rmSync(join(tmpdir(), name), { recursive: true, force: true, maxRetries: 9 });
  }
  removeGroups();
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Only empty ones can be removed, so those of another run are safe. */
function removeGroups(): void {
  const groups = "/sys/fs/cgroup";
  for (const kind of namesIn(groups)) {
    for (const name of namesIn(join(groups, kind))) {
      if (name.startsWith(FOLDER)) removeEmpty(join(groups, kind, name));
    }
    for (const name of namesIn(join(groups, kind, "lattice"))) {
      if (name.startsWith("chaos-")) removeEmpty(join(groups, kind, "lattice", name));
    }
  }
}

function removeEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // In use, or already gone.
  }
}

function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
