// Supervises one program of the local cluster. It runs in its own process group, so that Ctrl-C reaches only `up`, which
// decides the order of stopping, and writes to a log file, so that it does not depend on `up`. A program that ends
// unexpectedly is restarted with exponential backoff.

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, statSync } from "node:fs";

interface ChildSpec {
  readonly name: string;
  readonly program: string;
  /** Evaluated at each start, because a restarted server must take the ports it had. */
  readonly args: () => readonly string[];
  /** Added to the variables of this process. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly logFile: string;
  readonly note: (text: string) => void;
  readonly onStart: (pid: number) => void;
}

export interface Child {
  readonly name: string;
  readonly logFile: string;
  /** Offset of the current process's output in the log file. */
  logOffset(): number;
  running(): boolean;
  /** Returns how the process last ended, or null. */
  lastEnd(): string | null;
  /** Sends SIGTERM, then SIGKILL after the deadline. */
  stop(deadlineMs: number): Promise<void>;
}

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;
/** A process that ran this long is healthy, and the backoff starts over. */
const HEALTHY_MS = 60_000;

export function keepRunning(spec: ChildSpec): Child {
  let process_: ChildProcess | null = null;
  let offset = 0;
  let pauseMs = FIRST_PAUSE_MS;
  let stopping = false;
  let end: string | null = null;
  let timer: NodeJS.Timeout | undefined;

  const start = () => {
    const startedAt = Date.now();
    const started = launch(spec);
    process_ = started.child;
    offset = started.offset;
    if (started.child.pid !== undefined) spec.onStart(started.child.pid);
    const onEnd = (how: string) => {
      process_ = null;
      end = how;
      if (stopping) return;
      if (Date.now() - startedAt > HEALTHY_MS) pauseMs = FIRST_PAUSE_MS;
      spec.note(`${spec.name} ended unexpectedly (${how}); restarting in ${pauseMs / 1000} s. Log: ${spec.logFile}`);
      timer = setTimeout(start, pauseMs);
      pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2);
    };
    started.child.once("error", (error) => onEnd(error.message));
    started.child.once("exit", (code, signal) => onEnd(signal === null ? `status ${code}` : signal));
  };
  start();

  return {
    name: spec.name,
    logFile: spec.logFile,
    logOffset: () => offset,
    running: () => process_ !== null,
    lastEnd: () => end,
    stop: async (deadlineMs) => {
      stopping = true;
      clearTimeout(timer);
      if (process_ !== null) await endProcess(process_, deadlineMs);
    },
  };
}

function launch(spec: ChildSpec): { readonly child: ChildProcess; readonly offset: number } {
  const log = openSync(spec.logFile, "a");
  try {
    const offset = statSync(spec.logFile).size;
    const child = spawn(process.execPath, [spec.program, ...spec.args()], {
      detached: true,
      stdio: ["ignore", log, log],
      ...(spec.env === undefined ? {} : { env: { ...process.env, ...spec.env } }),
    });
    return { child, offset };
  } finally {
    closeSync(log);
  }
}

function endProcess(child: ChildProcess, deadlineMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill("SIGKILL"), deadlineMs);
    child.once("exit", () => {
      clearTimeout(timer);
      resolve();
    });
    child.kill("SIGTERM");
  });
}
