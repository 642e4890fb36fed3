// A process that outlives this one: it runs in its own session with its output in a file, is recorded in a pid file,
// and is recognized by its start time and its command line, so that a reused pid is never mistaken for it.

import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** Size at which the output continues in a new file. */
const MAX_LOG_BYTES = 64 * 1024 * 1024;
const STOP_MS = 10_000;
const POLL_MS = 50;

export interface KnownProcess {
  readonly pid: number;
  /** Clock ticks since boot, as the kernel reports them. */
  readonly startedAt: string;
  readonly args: readonly string[];
}

interface StartOptions {
  readonly binary: string;
  readonly args: readonly string[];
  readonly pidFile: string;
  readonly logFile: string;
}

export async function startDetached({ binary, args, pidFile, logFile }: StartOptions): Promise<KnownProcess> {
  const grown = await stat(logFile).then(
    ({ size }) => size > MAX_LOG_BYTES,
    () => false,
  );
  if (grown) await rename(logFile, `${logFile}.1`);
  const output = openSync(logFile, "a", 0o600);
  try {
    const child = spawn(binary, args, { detached: true, stdio: ["ignore", output, output], env: environment() });
    const pid = await new Promise<number>((resolve, reject) => {
      child.once("error", reject);
      child.once("spawn", () => resolve(child.pid ?? 0));
    });
    child.unref();
    const known = { pid, startedAt: (await startTimeOf(pid)) ?? "", args: (await argumentsOf(pid)) ?? [] };
    await writeDown(pidFile, known);
    return known;
  } finally {
    closeSync(output);
  }
}

/** On a full disk it is not written: the process still runs and is found by its arguments. */
async function writeDown(pidFile: string, known: KnownProcess): Promise<void> {
  try {
    await writeFile(`${pidFile}.tmp`, JSON.stringify(known), { mode: 0o600 });
    await rename(`${pidFile}.tmp`, pidFile);
  } catch {
    await rm(pidFile, { force: true }).catch(() => undefined);
  }
}

/** Returns the process of the pid file if it is still the same; else any process with this argument. */
export async function findRunning(pidFile: string, argument: string): Promise<KnownProcess | null> {
  const known = await readKnown(pidFile);
  if (known !== null && (await isAlive(known))) return known;
  for (const name of await readdir("/proc").catch(() => [])) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const args = await argumentsOf(pid);
    if (args === null || !args.includes(argument) || !(args[0] ?? "").endsWith("etcd")) continue;
    const startedAt = await startTimeOf(pid);
    if (startedAt !== null) return { pid, startedAt, args };
  }
  return null;
}

export async function isAlive(known: KnownProcess): Promise<boolean> {
  return (await startTimeOf(known.pid)) === known.startedAt;
}

/** Sends SIGTERM, then SIGKILL if the process is still there. */
export async function stopProcess(known: KnownProcess): Promise<void> {
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    if (!(await isAlive(known))) return;
    try {
      process.kill(known.pid, signal);
    } catch {
      return;
    }
    const until = performance.now() + STOP_MS;
    while (performance.now() < until && (await isAlive(known))) await sleep(POLL_MS);
  }
}

async function readKnown(pidFile: string): Promise<KnownProcess | null> {
  try {
    const { pid, startedAt, args } = JSON.parse(await readFile(pidFile, "utf8")) as Record<string, unknown>;
    if (typeof pid !== "number" || typeof startedAt !== "string" || !Array.isArray(args)) return null;
    return { pid, startedAt, args: args.map(String) };
  } catch {
    return null;
  }
}

/** Returns `null` when there is no such process, or only a zombie. */
async function startTimeOf(pid: number): Promise<string | null> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
  if (text === null) return null;
  // The name, in brackets, may contain anything; the rest is separated by spaces.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return fields[0] === "Z" || fields[0] === "X" ? null : (fields[19] ?? null);
}

async function argumentsOf(pid: number): Promise<readonly string[] | null> {
  const text = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => null);
  return text === null ? null : text.split("\0").slice(0, -1);
}

/** Without our environment: etcd reads every ETCD_ variable as a setting. */
function environment(): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  // etcd 3.4 requires this on architectures it was not released for.
  const unsupported = process.arch === "arm64" ? { ETCD_UNSUPPORTED_ARCH: "arm64" } : {};
  return { ...(PATH === undefined ? {} : { PATH }), ...(HOME === undefined ? {} : { HOME }), ...unsupported };
}
