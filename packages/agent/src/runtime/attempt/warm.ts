// Warm processes that wait for attempts. Forking the agent costs milliseconds per start, and joining a control group
// as much again; small reusable shells do both in advance. One process waits at any time; when it is taken, the next
// is prepared. There is one shell per concurrent attempt, plus one. A process whose attempt has left nothing behind in
// its control group waits for the next attempt.

import type { ChildProcess } from "node:child_process";
import { spawn } from "../../base/programs.ts";
import { standby } from "./warm-script.ts";

export interface Warm {
  readonly pid: number;
  /** The name of its control group. */
  readonly group: string;
  /**
   * Becomes the wrapper of that attempt. `ended` receives the exit status, or null when its shell is onExit and the
   * status is unknown.
   */
  become(dir: string, ended: (status: number | null) => void): void;
  /** The process is not needed. */
  dismiss(): void;
}

export interface WarmPool {
  take(): Promise<Warm>;
  /**
   * The attempt of this group is over and its process still waits: it may serve another attempt. Returns false when there
   * is no such process, or enough others wait; the group is then the caller's to remove.
   */
  keep(group: string): boolean;
  /** Dismisses the process of this group after its attempt, if it still waits. */
  retire(group: string): void;
  /** Whether a group of this name belongs to a process that waits. */
  has(group: string): boolean;
  /** Ends the waiting processes; running ones continue. */
  close(): Promise<void>;
}

interface WarmOptions {
  /** The script that a waiting process becomes. */
  readonly wrapper: string;
  /** Creates a group; returns the file to join it by, or "". */
  readonly prepare: (group: string) => Promise<string>;
  /** Removes an unused group. */
  readonly remove: (group: string) => Promise<void>;
  /** Prefix of group names, unique per run of the agent. */
  readonly prefix: string;
}

/** Delays preparation, so that it does not slow the start of an attempt. */
const REFILL_AFTER_MS = 20;
/** A burst leaves more shells; the surplus is closed. */
const MAX_IDLE_SHELLS = 4;
/** As many attempts as a small node runs at once. */
const MAX_WAITING = 16;
/** One shell that dies before use may have been killed; several in a row indicate a fault. */
const TRIES = 3;
const CLOSE_WAIT_MS = 500;

interface Shell {
  readonly child: ChildProcess;
  /** Handler for its output; `null` while the shell is idle. */
  onOutput: ((word: string, number: number) => void) | null;
  onExit: () => void;
}

export const warmPool = (options: WarmOptions): WarmPool => new ShellPool(options);

class ShellPool implements WarmPool {
  readonly #options: WarmOptions;
  readonly #command: [string, ...string[]];
  readonly #shells = new Set<Shell>();
  readonly #idle: Shell[] = [];
  /** Processes that wait for an attempt, or will in a moment. */
  readonly #waiting: Promise<Warm>[] = [];
  readonly #unused = new Map<string, Shell>();
  /** Processes that wait after their attempt, until its cleanup decides about them. */
  readonly #used = new Map<string, { readonly shell: Shell; readonly pid: number }>();
  /** Groups that are being removed. */
  readonly #removals = new Set<Promise<void>>();
  #made = 0;
  #closed = false;
  #refill: NodeJS.Timeout | null = null;

  constructor(options: WarmOptions) {
    this.#options = options;
    this.#command = standby(options.wrapper);
    this.#wait();
  }

  async take(): Promise<Warm> {
    for (let tries = 1; tries < TRIES; tries += 1) {
      const found = await this.#next().catch(() => null);
      // It may have died while waiting.
      if (found !== null && this.#unused.has(found.group)) return found;
    }
    return this.#next();
  }

  keep(group: string): boolean {
    const found = this.#used.get(group);
    if (found === undefined || this.#closed || this.#waiting.length >= MAX_WAITING) return false;
    this.#used.delete(group);
    this.#unused.set(group, found.shell);
    // First in line: it is in the caches of the machine.
    this.#waiting.unshift(Promise.resolve(this.#warm(found.shell, group, found.pid)));
    return true;
  }

  retire(group: string): void {
    const found = this.#used.get(group);
    if (found === undefined) return;
    this.#used.delete(group);
    say(found.shell, "-");
  }

  has(group: string): boolean {
    return group.startsWith(this.#options.prefix);
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#refill !== null) clearTimeout(this.#refill);
    await Promise.race([Promise.allSettled(this.#waiting), pause()]);
    for (const shell of this.#unused.values()) say(shell, "-");
    // A running process ends after its attempt.
    for (const { child } of this.#shells) child.stdin?.end();
    for (let waited = 0; this.#unused.size > 0 && waited < CLOSE_WAIT_MS; waited += LOOK_MS) await pause(LOOK_MS);
    await Promise.race([Promise.all(this.#removals), pause()]);
  }

  #next(): Promise<Warm> {
    const found = this.#waiting.shift() ?? this.#make();
    this.#refill ??= setTimeout(() => {
      this.#refill = null;
      if (!this.#closed && this.#waiting.length === 0) this.#wait();
    }, REFILL_AFTER_MS).unref();
    return found;
  }

  #wait(): void {
    const next = this.#make();
    next.catch(() => undefined);
    this.#waiting.push(next);
  }

  async #make(): Promise<Warm> {
    const shell = this.#idle.pop() ?? this.#startShell();
    const group = `${this.#options.prefix}${this.#made++}`;
    const file = await this.#options.prepare(group);
    return new Promise((resolve, reject) => {
      shell.onExit = () => reject(new Error("the shell of the warm process has ended"));
      if (shell.child.exitCode !== null || shell.child.pid === undefined) return shell.onExit();
      shell.onOutput = (word, pid) => {
        if (word === "ended") {
          this.#rest(shell);
          reject(new Error(`the warm process ended with ${pid}`));
        }
        if (word !== "ready") return;
        this.#unused.set(group, shell);
        resolve(this.#warm(shell, group, pid));
      };
      say(shell, `+ ${group} ${file}`);
    });
  }

  #warm(shell: Shell, group: string, pid: number): Warm {
    const onEnd = (ended: (status: number | null) => void): void => {
      shell.onExit = () => ended(null);
      shell.onOutput = (word, status) => {
        if (word === "ended") this.#rest(shell);
        else if (word === "over") this.#over(shell, group, pid);
        else return;
        ended(status);
      };
    };
    onEnd(() => this.#removeUnused(group));
    return {
      pid,
      group,
      become: (dir, ended) => {
        this.#unused.delete(group);
        onEnd(ended);
        say(shell, `= ${dir}`);
      },
      dismiss: () => {
        this.#unused.delete(group);
        say(shell, "-");
      },
    };
  }

  #over(shell: Shell, group: string, pid: number): void {
    this.#used.set(group, { shell, pid });
    shell.onExit = () => void this.#used.delete(group);
    shell.onOutput = (word) => {
      if (word !== "ended") return;
      this.#used.delete(group);
      this.#rest(shell);
    };
  }

  #removeUnused(group: string): void {
    if (!this.#unused.delete(group)) return;
    const removed = this.#options.remove(group).finally(() => this.#removals.delete(removed));
    this.#removals.add(removed);
  }

  #startShell(): Shell {
    const [program, ...words] = this.#command;
    const child = spawn(program, words, { cwd: "/", detached: true, env: {}, stdio: ["pipe", "pipe", "ignore"] });
    const shell: Shell = { child, onOutput: null, onExit: () => undefined };
    this.#shells.add(shell);
    const over = (): void => {
      this.#shells.delete(shell);
      const at = this.#idle.indexOf(shell);
      if (at >= 0) this.#idle.splice(at, 1);
      shell.onExit();
    };
    child.once("error", over);
    child.once("exit", over);
    child.stdin?.on("error", () => undefined);
    onLines(child, (line) => {
      const [word = "", number] = line.split(" ");
      shell.onOutput?.(word, Number(number));
    });
    unrefAll(child);
    return shell;
  }

  #rest(shell: Shell): void {
    shell.onOutput = null;
    shell.onExit = () => undefined;
    if (this.#closed || this.#idle.length >= MAX_IDLE_SHELLS) shell.child.stdin?.end();
    else this.#idle.push(shell);
  }
}

const LOOK_MS = 5;
const pause = (ms = CLOSE_WAIT_MS): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());

const say = ({ child }: Shell, line: string): void => void child.stdin?.write(`${line}\n`);

function onLines({ stdout }: ChildProcess, take: (line: string) => void): void {
  let rest = "";
  stdout?.on("data", (bytes: Buffer) => {
    const lines = (rest + bytes.toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
  });
}

/** A warm process must not keep the agent from ending. */
function unrefAll(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdin, child.stdout]) {
    if (stream !== null && "unref" in stream && typeof stream.unref === "function") stream.unref();
  }
}
