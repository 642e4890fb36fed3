// A pseudo-terminal with a program on it, created by `script` of util-linux, which every Debian and Red Hat system
// has: no native module, and the holder of the terminal is a separate process. The program reports its process id and
// its terminal over a fourth descriptor before it becomes the command, so that its size can be changed and its
// foreground group be signalled.

import type { ChildProcess } from "node:child_process";
import { readFile } from "node:fs/promises";
import type { Readable, Writable } from "node:stream";
import { DROP_OOM_PROTECTION } from "../base/oom-protection.ts";
import { HELPER_ENVIRONMENT, spawn } from "../base/programs.ts";
import { quotedAll } from "../base/shell-text.ts";

interface PtySize {
  readonly rows: number;
  readonly cols: number;
}

interface PtyOptions {
  /** Command words, executed directly. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Content that the command reads from VARIABLES_FD; `null` for nothing. */
  readonly variables?: Buffer | null;
  /** Files by which the program joins its control groups; one per line, or "". */
  readonly joinBy: string;
  readonly cwd: string;
  /** In octal digits; "" for the agent's. */
  readonly umask: string;
  readonly size: PtySize;
}

export interface Pty {
  /** Output of the terminal; paused while it is not read. */
  readonly output: Readable;
  /** Resolves when the terminal has taken it. */
  write(data: Uint8Array): Promise<void>;
  resize(size: PtySize): Promise<void>;
  /** Signals the foreground process group. */
  signal(name: NodeJS.Signals): Promise<void>;
  /** Sends SIGHUP to the session and closes the terminal; a process that ignores it continues without one. */
  hangup(): Promise<void>;
  /** The exit code, or 128 plus the signal number; -1 when the terminal was closed. Never rejects. */
  readonly exited: Promise<number>;
}

/** Rejects without `script` on this machine, or when the attempt cannot be entered. */
export async function openPty({ variables = null, ...options }: PtyOptions): Promise<Pty> {
  const child = spawn("script", ["-q", "-e", "-c", commandLine(options), "/dev/null"], {
    cwd: options.cwd,
    // `script` runs its command with this shell; the command gets its own SHELL back.
    env: { ...options.environment, SHELL: "/bin/sh" },
    stdio: ["pipe", "pipe", "ignore", "pipe", variables === null ? "ignore" : "pipe"],
    detached: true,
  });
  const exited = endOf(child);
  const given = child.stdio[VARIABLES_FD] as Writable | null;
  // The command may end before it has read all.
  given?.on("error", () => undefined).end(variables);
  const [stdin, output] = [child.stdin as Writable, child.stdout as Readable];
  // Written after its end: the exit code is reported anyway.
  stdin.on("error", () => undefined);
  const { pid, tty } = await greeting(child, child.stdio[GREETING_FD] as Readable);
  let isClosed = false;
  void exited.then(() => {
    isClosed = true;
  });
  return {
    output,
    exited,
    write: (data) =>
      new Promise((resolve) => {
        if (isClosed || stdin.write(data)) return resolve();
        stdin.once("drain", resolve);
        void exited.then(() => resolve());
      }),
    async resize({ rows, cols }) {
      if (isClosed) return;
      await finished(spawn("stty", ["-F", tty, "rows", String(rows), "cols", String(cols)], QUIET));
    },
    async signal(name) {
      if (isClosed) return;
      const group = await foregroundOf(pid);
      send(group === null ? pid : -group, name);
    },
    async hangup() {
      if (isClosed) return;
      const group = await foregroundOf(pid);
      for (const target of new Set([-pid, group === null ? -pid : -group])) send(target, "SIGHUP");
      // A stopped process handles a hangup only when it continues.
      send(-pid, "SIGCONT");
      // The kernel closes the terminal with its holder. SIGTERM would be passed on to the program, which may be
      // cleaning up after the hangup.
      if (child.pid !== undefined) send(child.pid, "SIGKILL");
    },
  };
}

const QUIET = { stdio: "ignore", env: HELPER_ENVIRONMENT } as const;

const GREETING_FD = 3;
export const VARIABLES_FD = 4;

/** First its process id and its terminal, while only root has it; then size, group and the command. */
const PREPARE = `echo "$$ $(tty)" >&${GREETING_FD}
exec ${GREETING_FD}>&-
${DROP_OOM_PROTECTION}
stty sane rows "$1" cols "$2"
if ! (set -f; IFS='
'; for group in $3; do echo $$ >"$group" || exit 1; done); then
  echo "cannot join the control group of the allocation" >&2
  exit 126
fi
if [ -n "$4" ]; then SHELL="$4"; else unset SHELL; fi
if [ -n "$5" ]; then umask "$5"; fi
shift 5
exec "$@"`;

function commandLine({ command, joinBy, size, environment, umask }: PtyOptions): string {
  const words = [String(size.rows), String(size.cols), joinBy, environment.SHELL ?? "", umask, ...command];
  return `set -- ${quotedAll(words)}\n${PREPARE}`;
}

interface Greeting {
  readonly pid: number;
  /** The device of the terminal, which keeps its name as long as `script` holds it. */
  readonly tty: string;
}

function greeting(child: ChildProcess, from: Readable): Promise<Greeting> {
  return new Promise((resolve, reject) => {
    let text = "";
    child.once("error", (error: NodeJS.ErrnoException) =>
      reject(error.code === "ENOENT" ? new Error("this node has no `script` program to make terminals with") : error),
    );
    // One line; the stream itself ends only with `script`, which holds it too.
    from.on("data", (data: Buffer) => {
      text += data.toString();
      if (!text.includes("\n")) return;
      from.destroy();
      const [pid, tty = ""] = text.trim().split(" ");
      if (/^\/dev\/pts\/\d+$/.test(tty)) resolve({ pid: Number(pid), tty });
      else reject(new Error("this node has no /dev/pts to make terminals with"));
    });
    from.on("error", reject);
    child.once("close", () => reject(new Error("the terminal could not be opened")));
  });
}

function endOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.once("error", () => resolve(-1));
    // After "close" all of its output has been read.
    child.once("close", (code) => resolve(code ?? -1));
  });
}

function finished(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once("error", () => resolve());
    child.once("close", () => resolve());
  });
}

async function foregroundOf(pid: number): Promise<number | null> {
  const group = Number((await statOf(pid))[5]);
  return group > 0 ? group : null;
}

/** Of /proc/PID/stat, what follows the name in brackets: state ppid pgrp session tty_nr tpgid. */
async function statOf(pid: number): Promise<readonly string[]> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

function send(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch {
    // Ended meanwhile.
  }
}
