// Reads processes from /proc: liveness, memory, CPU time, and the processes of a test's directory. Tests end only
// processes that mention a directory they created.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { eventually } from "./eventually.ts";

export function isAlive(pid: number): boolean {
  const state = stat(pid)?.state;
  return state !== undefined && state !== "Z" && state !== "X";
}

/** Returns resident memory in bytes, or 0 after the process has ended. */
export function residentBytes(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readOr(`/proc/${pid}/status`, ""))?.[1];
  return Number(line ?? 0) * 1024;
}

/** Returns the CPU time in seconds, user and system together. */
export function cpuSeconds(pid: number): number {
  return stat(pid)?.cpuSeconds ?? 0;
}

/** Returns the CPU time in seconds of a process and its descendants, those included that a descendant has waited for. */
export function cpuSecondsOfTree(pid: number): number {
  const children = namesOr(`/proc/${pid}/task`).flatMap((thread) =>
    readOr(`/proc/${pid}/task/${thread}/children`, "").split(" ").filter(Boolean).map(Number),
  );
  const own = stat(pid)?.cpuSecondsWithWaited ?? 0;
  return children.reduce((sum, child) => sum + cpuSecondsOfTree(child), own);
}

/** Returns every live process whose command line, environment, directory or open files mention `folder`. */
export function processesIn(folder: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && isAlive(pid) && mentions(pid, folder));
}

/** Ends all processes in `folder`, including those started meanwhile. */
export async function endProcessesIn(folder: string): Promise<void> {
  await eventually({ what: `no process is left in ${folder}`, everyMs: 20 }, () => {
    const left = processesIn(folder);
    for (const pid of left) kill(pid, "SIGKILL");
    return left.length === 0 ? true : null;
  });
}

export function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Sends SIGSTOP and waits until all threads have stopped, which takes a moment. */
export async function pause(pid: number): Promise<void> {
  kill(pid, "SIGSTOP");
  await eventually({ what: `process ${pid} stands still`, everyMs: 1 }, () =>
    namesOr(`/proc/${pid}/task`).every((thread) =>
      /^State:\s+[TZX]/m.test(readOr(`/proc/${pid}/task/${thread}/status`, "State: X")),
    )
      ? true
      : null,
  );
}

/** Returns the process ids in a file, one per line among other lines; empty without a file. */
export function pidsIn(file: string): readonly number[] {
  return readOr(file, "")
    .split("\n")
    .filter((line) => /^\d+$/.test(line))
    .map(Number);
}

function mentions(pid: number, folder: string): boolean {
  const at = `/proc/${pid}`;
  if (readOr(`${at}/cmdline`, "").includes(folder)) return true;
  if (readOr(`${at}/environ`, "").includes(folder)) return true;
  if (linkOr(`${at}/cwd`).startsWith(folder)) return true;
  return namesOr(`${at}/fd`).some((fd) => linkOr(`${at}/fd/${fd}`).startsWith(folder));
}

interface Stat {
  readonly state: string;
  readonly cpuSeconds: number;
  readonly cpuSecondsWithWaited: number;
}

function stat(pid: number): Stat | null {
  const text = readOr(`/proc/${pid}/stat`, "");
  if (text === "") return null;
  // The command name may contain spaces and brackets; the fields after it do not.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [own, waited] = [11, 13].map((at) => (Number(fields[at]) + Number(fields[at + 1])) / 100);
  const cpuSeconds = own ?? 0;
  return { state: fields[0] ?? "X", cpuSeconds, cpuSecondsWithWaited: cpuSeconds + (waited ?? 0) };
}

function readOr(path: string, otherwise: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return otherwise;
  }
}

function linkOr(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

function namesOr(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
