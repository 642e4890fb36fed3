// The PMIx server of one node for one launch: a helper program that runs as the job's user and talks to the shepherd
// in lines. It provides the ranks' variables before they start; fences with other nodes go through the shepherd, as
// for PMI. It ends with its launch.

import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, openSync } from "node:fs";
import { spawn } from "../../base/programs.ts";
import type { NameReply, PmiNameQuestion } from "../base/name-types.ts";
import type { PmixSpec, ShepherdSpec } from "../frames.ts";
import { lineCutter, PMIX_NAME, type PmixMessage, parsePmixLine } from "./pmix-lines.ts";

interface PmixEvents {
  /** The ranks may be started, each with these variables. */
  ready(variables: ReadonlyMap<number, Readonly<Record<string, string>>>): void;
  connected(rank: number): void;
  finalized(rank: number): void;
  /** All ranks of this node are in this fence; `brought` is in hexadecimal. */
  fence(number: number, brought: string): void;
  abort(rank: number, code: number, message: string): void;
  /** A rank wants more ranks; it was refused. */
  spawn(rank: number): void;
  names(question: Omit<PmiNameQuestion, "id">, answered: (answer: NameReply) => void): void;
  /** The server failed to start or has ended. */
  failed(message: string): void;
}

export interface PmixServer {
  fenceDone(number: number, all: string): void;
  /** Stops reading what it says: too much is unconfirmed. */
  pause(): void;
  resume(): void;
  /** `closed` is called once it has ended and has removed its folder. */
  close(closed: () => void): void;
}

const REMOVE_FOLDER_MS = 2_000;
const RANDOM_BYTES = 6;

/** The helper is opened by the shepherd: the job's user may be unable to reach its path. */
const HELPER_FD = 3;

export function startPmix(spec: ShepherdSpec, pmix: PmixSpec, setpriv: string, events: PmixEvents): PmixServer {
  try {
    return new HelperProcess(spec, spawnHelper(spec, pmix, setpriv), events);
  } catch (error) {
    setImmediate(() => events.failed(`its PMIx server cannot be started: ${(error as Error).message}`));
    return { fenceDone: noAct, pause: noAct, resume: noAct, close: (closed) => closed() };
  }
}

function spawnHelper(spec: ShepherdSpec, pmix: PmixSpec, setpriv: string): ChildProcess {
  const guard = setpriv === "" ? [] : [setpriv, "--pdeathsig", "KILL", "--"];
  const nodes = pmix.nodes.map(({ node, firstRank, tasks }) => `${node}:${firstRank}:${tasks}`);
  // Chosen here, and never read back: what the helper says comes from a process of the user.
  const folder = `${pmix.folder}${randomBytes(RANDOM_BYTES).toString("hex")}`;
  const words = [`/proc/self/fd/${HELPER_FD}`, spec.launchId, folder, String(pmix.place), ...nodes];
  const [program = "", ...args] = [...pmix.prefix, ...guard, ...words];
  const helper = openSync(pmix.helper, "r");
  try {
    return spawn(program, args, {
      cwd: "/",
      env: { PATH: "/usr/bin:/bin", LATTICE_ATTEMPT_DIR: spec.environment.LATTICE_ATTEMPT_DIR ?? "" },
      stdio: ["pipe", "pipe", "ignore", helper],
    });
  } finally {
    closeSync(helper);
  }
}

class HelperProcess implements PmixServer {
  readonly #spec: ShepherdSpec;
  readonly #child: ChildProcess;
  readonly #events: PmixEvents;
  readonly #cut = lineCutter();
  readonly #variables = new Map<number, Readonly<Record<string, string>>>();
  #ready = false;
  #lastFence = 0;
  /** Its lines no longer count. */
  #closed = false;
  #exited = false;

  constructor(spec: ShepherdSpec, child: ChildProcess, events: PmixEvents) {
    this.#spec = spec;
    this.#child = child;
    this.#events = events;
    child.stdout?.on("data", (bytes: Buffer) => this.#receive(bytes));
    child.stdin?.on("error", noAct);
    child.once("error", (error) => {
      this.#exited = true;
      events.failed(`its PMIx server cannot be started: ${error.message}`);
    });
    child.once("exit", () => {
      this.#exited = true;
    });
    // After its last line.
    child.once("close", (code, signal) => {
      if (!this.#closed) events.failed(`its PMIx server ended by itself (${signal ?? code})`);
    });
  }

  pause(): void {
    this.#child.stdout?.pause();
  }

  resume(): void {
    this.#child.stdout?.resume();
  }

  fenceDone(number: number, all: string): void {
    this.#child.stdin?.write(`fence ${number} ${all}\n`);
  }

  close(closed: () => void): void {
    this.#closed = true;
    if (this.#exited) {
      closed();
      return;
    }
    this.#child.once("exit", closed);
    // It must not block on lines that are not read.
    this.resume();
    // It removes its folder itself: a path from a user's process is never used here.
    this.#child.stdin?.end();
    setTimeout(() => this.#child.kill("SIGKILL"), REMOVE_FOLDER_MS).unref();
  }

  #receive(bytes: Buffer): void {
    const lines = this.#cut(bytes);
    if (!this.#closed && (lines === null || !lines.every((line) => this.#accept(line)))) this.#refuse();
  }

  #accept(line: string): boolean {
    if (this.#closed) return true;
    const message = parsePmixLine(line, this.#spec);
    return message !== null && this.#handle(message);
  }

  #refuse(): void {
    this.#closed = true;
    this.#child.stdout?.destroy();
    this.#child.kill("SIGKILL");
    this.#events.failed("its PMIx server wrote a line that is malformed, too long or out of order");
  }

  /** Returns false for a line that no helper of ours writes now. */
  #handle(message: PmixMessage): boolean {
    const events = this.#events;
    switch (message.kind) {
      case "env":
        if (!this.#ready) this.#variables.set(message.rank, message.variables);
        return !this.#ready;
      case "ready":
        if (this.#ready) return false;
        this.#ready = true;
        events.ready(this.#variables);
        return true;
      case "fence":
        if (message.number !== this.#lastFence + 1) return false;
        this.#lastFence = message.number;
        events.fence(message.number, message.brought);
        return true;
      case "connected":
      case "finalized":
      case "spawn":
        events[message.kind](message.rank);
        return true;
      case "abort":
        events.abort(message.rank, message.code, message.message);
        return true;
      case "names":
        this.#askForNames(message);
        return true;
      case "failed":
        events.failed(`its PMIx server: ${message.message}`);
        return true;
    }
  }

  #askForNames({ act, id, waitSeconds, entries }: Extract<PmixMessage, { kind: "names" }>): void {
    this.#events.names({ act, entries, waitSeconds }, ({ problem, found }) => {
      const pairs = found.map(([key, value]) => ` ${key.slice(PMIX_NAME.length)} ${value}`);
      this.#child.stdin?.write(`named ${id} ${problem === "" ? "ok" : problem}${pairs.join("")}\n`);
    });
  }
}

const noAct = (): void => undefined;
