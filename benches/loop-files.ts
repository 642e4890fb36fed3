// Programs whose event loop is monitored, and what the monitor has written about a span of time.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../tests/harness/program.ts";

const MONITOR = join(root, "benches", "clients", "loop-monitor.mjs");

/** The environment in which a program is monitored. */
export const monitoredBy = (file: string): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import ${MONITOR}`,
  LATTICE_BENCH_LOOP_FILE: file,
});

interface Delays {
  readonly longest: number;
  /** The longest delays of each half second, in milliseconds. */
  readonly longests: readonly number[];
}

export function delaysBetween(file: string, from: number, to: number): Delays {
  const lines = readFileSync(file, "utf8").trim().split("\n");
  const longests = lines
    .map((line) => JSON.parse(line) as { readonly at: number; readonly longest: number })
    // The first half second may have started before.
    .filter(({ at }) => at > from + 500 && at <= to)
    .map(({ longest }) => longest);
  return { longest: Math.max(...longests), longests };
}

interface BareServer {
  readonly address: string;
  close(): void;
}

/** Starts an HTTP server that does nothing, for comparison. */
export async function startBareServer(loopFile: string): Promise<BareServer> {
  const child = start(["--import", "tsx", join(root, "benches", "clients", "bare-server.ts")], loopFile);
  if (child.stdout === null) throw new Error("the bare server has no output");
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return { address: line.toString().trim(), close: () => child.kill("SIGKILL") };
}

/** Starts a program that sleeps: its delays are those of the machine. */
export function startSleeper(loopFile: string): () => void {
  const child = start(["-e", "setInterval(() => undefined, 1000)"], loopFile);
  return () => child.kill("SIGKILL");
}

const start = (args: readonly string[], loopFile: string): ChildProcess =>
  spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...monitoredBy(loopFile) },
    stdio: ["ignore", "pipe", "inherit"],
  });
