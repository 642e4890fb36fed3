// Processes that wait for attempts. To fork the agent itself costs milliseconds of processor time for every
// start, and to join a control group as long again; both are done before an order comes, by small shells that
// are kept and used again. One process waits at any time; when it is taken, the next is made ready. There are as many shells
// as attempts that run at once, and one.

import { type ChildProcess, spawn } from "node:child_process";
import { standby } from "./warm-script.ts";

export interface Warm {
  readonly pid: number;
  /** The name of the group that it is in. */
  readonly group: string;
  /**
   * It becomes the wrapper of that attempt. `ended` with what the shell calls its status; null: its shell went, and
   * nobody will say.
   */
  become(dir: string, ended: (status: number | null) => void): void;
  /** Not needed after all. */
  dismiss(): void;
}

export interface WarmPool {
  take(): Promise<Warm>;
  /** Whether a group of this name belongs to a process that waits. */
  has(group: string): boolean;
  /** Lets those go that wait; those that run go on. */
  close(): Promise<void>;
}

export interface WarmOptions {
  /** The script that a waiting process becomes. */
  readonly wrapper: string;
  /** Makes a group; answers the file to join it by, or "" for none. */
  readonly prepare: (group: string) => Promise<string>;
  /** Takes a group away that nobody used. */
  readonly remove: (group: string) => Promise<void>;
  /** Begins the names of groups: never those of another life of this agent. */
  readonly prefix: string;
}

/** Leaves the first moments of an attempt to the attempt. */
const REFILL_AFTER_MS = 20;
/** A burst leaves more; they are let go. */
const MAX_IDLE_SHELLS = 4;
/** A shell that dies before it is of use may have been killed; several in a row were not. */
const TRIES = 3;
const CLOSE_WAIT_MS = 500;

interface Shell {
  readonly child: ChildProcess;
  /** What is done with what it says; null: it has nothing to do. */
  heard: ((word: string, number: number) => void) | null;
  gone: () => void;
}

export function warmPool({ wrapper, prepare, remove, prefix }: WarmOptions): WarmPool {
  const idle: Shell[] = [];
  /** Waiting, or about to be. */
  const waiting: Promise<Warm>[] = [];
  const unused = new Map<string, Shell>();
  const leaving = new Set<Promise<void>>();
  let made = 0;
  let closed = false;
  let refill: NodeJS.Timeout | null = null;
  const [program, ...words] = standby(wrapper);

  function startShell(): Shell {
    const child = spawn(program, words, {
      cwd: "/",
      detached: true,
      env: {},
      stdio: ["pipe", "pipe", "ignore"],
    });
    const shell: Shell = { child, heard: null, gone: () => undefined };
    const over = (): void => {
      const at = idle.indexOf(shell);
      if (at >= 0) idle.splice(at, 1);
      shell.gone();
    };
    child.once("error", over);
    child.once("exit", over);
    child.stdin?.on("error", () => undefined);
    onLines(child, (line) => {
      const [word = "", number] = line.split(" ");
      shell.heard?.(word, Number(number));
    });
    letGo(child);
    return shell;
  }

  function rest(shell: Shell): void {
    shell.heard = null;
    shell.gone = () => undefined;
    if (closed || idle.length >= MAX_IDLE_SHELLS) shell.child.stdin?.end();
    else idle.push(shell);
  }

  async function make(): Promise<Warm> {
    const shell = idle.pop() ?? startShell();
    const group = `${prefix}${made++}`;
    const file = await prepare(group);
    return new Promise((resolve, reject) => {
      shell.gone = () => reject(new Error("a shell that was to wait for it has ended"));
      if (shell.child.exitCode !== null || shell.child.pid === undefined) return shell.gone();
      shell.heard = (word, pid) => {
        if (word === "ended") {
          rest(shell);
          reject(new Error(`what was to wait for it ended with ${pid}`));
        }
        if (word !== "ready") return;
        unused.set(group, shell);
        resolve(warm(shell, group, pid));
      };
      say(shell, `+ ${group} ${file}`);
    });
  }

  function warm(shell: Shell, group: string, pid: number): Warm {
    const over = (told: (status: number | null) => void): void => {
      shell.gone = () => told(null);
      shell.heard = (word, status) => {
        if (word !== "ended") return;
        rest(shell);
        told(status);
      };
    };
    over(() => forsaken(group));
    return {
      pid,
      group,
      become(dir, ended) {
        unused.delete(group);
        over(ended);
        say(shell, `= ${dir}`);
      },
      dismiss() {
        unused.delete(group);
        say(shell, "-");
      },
    };
  }

  function forsaken(group: string): void {
    if (!unused.delete(group)) return;
    const gone = remove(group).finally(() => leaving.delete(gone));
    leaving.add(gone);
  }

  function wait(): void {
    const next = make();
    next.catch(() => undefined);
    waiting.push(next);
  }

  function refillSoon(): void {
    refill ??= setTimeout(() => {
      refill = null;
      if (!closed && waiting.length === 0) wait();
    }, REFILL_AFTER_MS).unref();
  }

  function next(): Promise<Warm> {
    const found = waiting.shift() ?? make();
    refillSoon();
    return found;
  }

  wait();
  return {
    async take() {
      for (let tries = 1; tries < TRIES; tries += 1) {
        const found = await next().catch(() => null);
        // It may have been killed while it waited.
        if (found !== null && unused.has(found.group)) return found;
      }
      return next();
    },
    has: (group) => group.startsWith(prefix),
    async close() {
      closed = true;
      if (refill !== null) clearTimeout(refill);
      await Promise.race([Promise.allSettled(waiting), pause()]);
      for (const shell of unused.values()) say(shell, "-");
      for (const { child } of idle) child.stdin?.end();
      for (let waited = 0; unused.size > 0 && waited < CLOSE_WAIT_MS; waited += LOOK_MS) await pause(LOOK_MS);
      await Promise.race([Promise.all(leaving), pause()]);
    },
  };
}

const LOOK_MS = 5;
const pause = (ms = CLOSE_WAIT_MS): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());

const say = ({ child }: Shell, line: string): void => void child.stdin?.write(`${line}\n`);

function onLines({ stdout }: ChildProcess, told: (line: string) => void): void {
  let rest = "";
  stdout?.on("data", (bytes: Buffer) => {
    const lines = (rest + bytes.toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) told(line);
  });
}

/** None of it keeps the agent from ending. */
function letGo(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdin, child.stdout]) {
    if (stream !== null && "unref" in stream && typeof stream.unref === "function") stream.unref();
  }
}
