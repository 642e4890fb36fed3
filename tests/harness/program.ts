// Starts a built program as a child process. Standard error goes to a file, so that nothing is lost when it is killed;
// standard output is read for the ready line.
import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync, closeSync, openSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isAlive } from "./processes.ts";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
export const programPath = (name: string): string => join(root, "node_modules", ".bin", name);

export interface Program {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  /** The first line of standard output that is a JSON object. */
  ready(): Promise<Readonly<Record<string, unknown>>>;
  /** Sends SIGTERM and waits. Returns the exit code, or 128 plus the signal. */
  stop(): Promise<number>;
  /** Sends SIGKILL and waits. */
  kill(): Promise<void>;
  readonly ended: Promise<number>;
  isRunning(): boolean;
}

export interface ProgramOptions {
  readonly args: readonly string[];
  readonly logFile: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Command prefix, for example one that enters a namespace. */
  readonly prefix?: readonly string[];
  /** File of the program. Default: the built one. */
  readonly path?: string;
}

const READY_WITHIN_MS = 120_000;
const STOP_WITHIN_MS = 120_000;
const SIGNAL_BASE = 128;

export function startProgram(name: string, options: ProgramOptions): Program {
  const log = openSync(options.logFile, "a");
  const words = [...(options.prefix ?? []), process.execPath, options.path ?? programPath(name), ...options.args];
  const child = spawn(words[0] ?? name, words.slice(1), {
    stdio: ["ignore", "pipe", log],
    env: cleanEnvironment(options.env ?? {}),
  });
  closeSync(log);
  const ended = endOf(child);
  const ready = readyLine(child, ended, name, options.logFile);
  // A failure before `ready` is called must not be an unhandled rejection.
  ready.catch(() => {});
  const pid = child.pid ?? -1;
  return {
    name,
    pid,
    logFile: options.logFile,
    ready: () => ready,
    stop: async () => {
      child.kill("SIGTERM");
      return await within(ended, STOP_WITHIN_MS, `${name} does not stop; see ${options.logFile}`);
    },
    kill: async () => {
      child.kill("SIGKILL");
      await ended;
    },
    ended,
    isRunning: () => isAlive(pid),
  };
}

/**
 * Returns the environment without variables that affect the programs, plus the test's own. Tests submit as users that
 * the machine does not know, so agents run all work as themselves.
 */
export function cleanEnvironment(extra: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([key]) => !/^(LATTICE_|SLURM_|VITEST|NODE_OPTIONS|NODE_EXTRA_CA_CERTS|FORCE_COLOR)/.test(key),
  );
  return { ...Object.fromEntries(kept), NO_COLOR: "1", LATTICE_AGENT_USER_MAPPING: "none", ...extra };
}

export function tailOf(file: string, lines: number): string {
  try {
    return readFileSync(file, "utf8").split("\n").slice(-lines).join("\n");
  } catch {
    return "";
  }
}

function endOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.once("error", () => resolve(SIGNAL_BASE - 1));
    child.once("exit", (code, signal) => resolve(code ?? SIGNAL_BASE + (signal === "SIGKILL" ? 9 : 15)));
  });
}

async function readyLine(child: ChildProcess, ended: Promise<number>, name: string, logFile: string) {
  const line = new Promise<Readonly<Record<string, unknown>>>((resolve) => {
    let text = "";
    let found = false;
    child.stdout?.on("data", (chunk: Buffer) => {
      appendFileSync(logFile, chunk);
      if (found) return;
      text += chunk.toString("utf8");
      const json = text
        .split("\n")
        .slice(0, -1)
        .find((candidate) => candidate.startsWith("{"));
      if (json === undefined) return;
      found = true;
      resolve(JSON.parse(json) as Readonly<Record<string, unknown>>);
    });
  });
  const gone = ended.then((code) => {
    throw new Error(`${name} ended with ${code} before it was ready:\n${tailOf(logFile, 30)}`);
  });
  return await within(Promise.race([line, gone]), READY_WITHIN_MS, `${name} does not get ready; see ${logFile}`);
}

async function within<T>(promise: Promise<T>, ms: number, complaint: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(complaint)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
