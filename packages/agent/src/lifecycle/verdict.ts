// Combines how the process ended with what the agent had requested into the end that is reported. The cause beats the
// exit code: a process that answers SIGTERM with exit 0 after a stop order was stopped, not completed.

import type { End, Exit, Stop } from "./attempt.ts";

export function verdict(exit: Exit, stop: Stop | null, atMs: number): End {
  const exitCode = exitCodeOf(exit);
  if (stop !== null) return { kind: "failed", reason: stop.cause, exitCode, message: stop.message, atMs };
  if ("oom" in exit && exit.oom !== undefined && exitCode !== 0) {
    return { kind: "failed", reason: "oom", exitCode, message: exit.oom, atMs };
  }
  switch (exit.kind) {
    case "code":
      return withLimit(ofCode(exit.code, atMs), exit.limit);
    case "signal":
      return withLimit(
        { kind: "failed", reason: "signal", exitCode, message: `killed by ${signalName(exit.number)}`, atMs },
        exit.limit,
      );
    case "not_launched":
      if (exit.stage !== undefined) {
        const { stage } = exit;
        const message = `prologue failed (${stage}): ${exit.message}`;
        return { kind: "failed", reason: "prologue_failed", exitCode, message, atMs, stage };
      }
      return { kind: "failed", reason: "launch_failed", exitCode, message: exit.message, atMs };
    case "unseen":
      return { kind: "failed", reason: "lost", exitCode, message: exit.message, atMs };
  }
}

/** A refused fork is the likely cause of a failure. */
const withLimit = (end: End, limit: string | undefined): End =>
  end.kind === "completed" || limit === undefined ? end : { ...end, message: `${end.message}; ${limit}` };

/** Shells and this wrapper exit with 128+n for a process killed by signal n. */
const SIGNAL_BASE = 128;

function ofCode(code: number, atMs: number): End {
  if (code === 0) return { kind: "completed", exitCode: 0, message: "", atMs };
  const signal = signals.get(code - SIGNAL_BASE);
  if (signal !== undefined) {
    return { kind: "failed", reason: "signal", exitCode: code, message: `ended by ${signal}`, atMs };
  }
  return { kind: "failed", reason: "exit_code", exitCode: code, message: explain(code), atMs };
}

function explain(code: number): string {
  if (code === 127) return "exit code 127: command not found";
  if (code === 126) return "exit code 126: command found but not executable";
  return `exit code ${code}`;
}

function exitCodeOf(exit: Exit): number | null {
  if (exit.kind === "code") return exit.code;
  return exit.kind === "signal" ? SIGNAL_BASE + exit.number : null;
}

const signals: ReadonlyMap<number, string> = new Map([
  [1, "SIGHUP"],
  [2, "SIGINT"],
  [3, "SIGQUIT"],
  [4, "SIGILL"],
  [5, "SIGTRAP"],
  [6, "SIGABRT"],
  [7, "SIGBUS"],
  [8, "SIGFPE"],
  [9, "SIGKILL"],
  [10, "SIGUSR1"],
  [11, "SIGSEGV"],
  [12, "SIGUSR2"],
  [13, "SIGPIPE"],
  [14, "SIGALRM"],
  [15, "SIGTERM"],
  [24, "SIGXCPU"],
  [25, "SIGXFSZ"],
]);

const signalName = (number: number): string => signals.get(number) ?? `signal ${number}`;
