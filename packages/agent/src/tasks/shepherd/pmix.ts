// The PMIx server of one node for one launch: a helper program that runs as the job's user and talks to the shepherd
// in lines. It provides the ranks' variables before they start; fences with other nodes go through the shepherd, as
// for PMI. It ends with its launch.

import { randomBytes } from "node:crypto";
import { closeSync, openSync } from "node:fs";
import { spawn } from "../../base/programs.ts";
import type { NameReply, PmiNameQuestion } from "../base/name-types.ts";
import type { PmixSpec, ShepherdSpec } from "../frames.ts";
import { lineCutter, PMIX_NAME, type PmixSaid, parsePmixLine } from "./pmix-lines.ts";

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
  close(): void;
}

const REMOVE_FOLDER_MS = 2_000;
const RANDOM_BYTES = 6;

/** The helper is opened by the shepherd: the job's user may be unable to reach its path. */
const HELPER_FD = 3;

export function startPmix(spec: ShepherdSpec, pmix: PmixSpec, setpriv: string, events: PmixEvents): PmixServer {
  const guard = setpriv === "" ? [] : [setpriv, "--pdeathsig", "KILL", "--"];
  const nodes = pmix.nodes.map(({ node, firstRank, tasks }) => `${node}:${firstRank}:${tasks}`);
  // Chosen here, and never read back: what the helper says comes from a process of the user.
  const folder = `${pmix.folder}${randomBytes(RANDOM_BYTES).toString("hex")}`;
  const words = [`/proc/self/fd/${HELPER_FD}`, spec.launchId, folder, String(pmix.place), ...nodes];
  const [program = "", ...args] = [...pmix.prefix, ...guard, ...words];
  let helper: number;
  try {
    helper = openSync(pmix.helper, "r");
  } catch (error) {
    setImmediate(() => events.failed(`its PMIx server cannot be started: ${(error as Error).message}`));
    return { fenceDone: noAct, pause: noAct, resume: noAct, close: noAct };
  }
  const child = spawn(program, args, {
    cwd: "/",
    env: { PATH: "/usr/bin:/bin", LATTICE_ATTEMPT_DIR: spec.environment.LATTICE_ATTEMPT_DIR ?? "" },
    stdio: ["pipe", "pipe", "ignore", helper],
  });
  closeSync(helper);
  const { stdin, stdout } = child;
  const variables = new Map<number, Readonly<Record<string, string>>>();
  let isReady = false;
  let lastFence = 0;
  let closed = false;

  /** Returns false for a line that no helper of ours writes now. */
  function hear(said: PmixSaid): boolean {
    switch (said.kind) {
      case "env":
        if (!isReady) variables.set(said.rank, said.variables);
        return !isReady;
      case "ready":
        if (isReady) return false;
        isReady = true;
        events.ready(variables);
        return true;
      case "fence":
        if (said.number !== lastFence + 1) return false;
        lastFence = said.number;
        events.fence(said.number, said.brought);
        return true;
      case "connected":
      case "finalized":
      case "spawn":
        events[said.kind](said.rank);
        return true;
      case "abort":
        events.abort(said.rank, said.code, said.message);
        return true;
      case "names":
        askForNames(said);
        return true;
      case "failed":
        events.failed(`its PMIx server: ${said.message}`);
        return true;
    }
  }

  function askForNames({ act, id, waitSeconds, entries }: Extract<PmixSaid, { kind: "names" }>): void {
    events.names({ act, entries, waitSeconds }, ({ problem, found }) => {
      const pairs = found.map(([key, value]) => ` ${key.slice(PMIX_NAME.length)} ${value}`);
      stdin?.write(`named ${id} ${problem === "" ? "ok" : problem}${pairs.join("")}\n`);
    });
  }

  function refuse(): void {
    closed = true;
    stdout?.destroy();
    child.kill("SIGKILL");
    events.failed("its PMIx server wrote a line that is malformed, too long or out of order");
  }

  const cut = lineCutter();
  stdout?.on("data", (bytes: Buffer) => {
    const lines = cut(bytes);
    if (lines === null) return refuse();
    for (const line of lines) {
      const said = closed ? null : parsePmixLine(line, spec);
      if (closed) return;
      if (said === null || !hear(said)) return refuse();
    }
  });
  stdin?.on("error", () => undefined);
  child.once("error", (error) => events.failed(`its PMIx server cannot be started: ${error.message}`));
  child.once("close", (code, signal) => {
    if (!closed) events.failed(`its PMIx server ended by itself (${signal ?? code})`);
  });
  return {
    pause: () => void stdout?.pause(),
    resume: () => void stdout?.resume(),
    fenceDone: (number, all) => void stdin?.write(`fence ${number} ${all}\n`),
    close() {
      closed = true;
      // It removes its folder itself: a path from a user's process is never used here.
      stdin?.end();
      setTimeout(() => child.kill("SIGKILL"), REMOVE_FOLDER_MS).unref();
    },
  };
}

const noAct = (): void => undefined;
