// The PMIx server of one node for one launch: a helper program that runs as the job's user and talks to the shepherd
// in lines. It provides the ranks' variables before they start; fences with other nodes go through the shepherd, as
// for PMI. It ends with its launch.

import { closeSync, openSync } from "node:fs";
import { spawn } from "../../base/programs.ts";
import type { PmixSpec, ShepherdSpec } from "../frames.ts";
import type { NameAct, NameReply, PmiNameQuestion } from "../name-types.ts";

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
  close(): void;
}

/** Names of PMIx are in hexadecimal, and their values are for PMIx alone. */
const PMIX_NAME = "pmix:";

/** The largest line carries the data of one fence. */
const MAX_LINE = 256 * 1024 * 1024;
const REMOVE_FOLDER_MS = 2_000;

/** The helper is opened by the shepherd: the job's user may be unable to reach its path. */
const HELPER_FD = 3;

export function startPmix(spec: ShepherdSpec, pmix: PmixSpec, setpriv: string, events: PmixEvents): PmixServer {
  const guard = setpriv === "" ? [] : [setpriv, "--pdeathsig", "KILL", "--"];
  const nodes = pmix.nodes.map(({ node, firstRank, tasks }) => `${node}:${firstRank}:${tasks}`);
  const words = [`/proc/self/fd/${HELPER_FD}`, spec.launchId, pmix.folder, String(pmix.place), ...nodes];
  const [program = "", ...args] = [...pmix.prefix, ...guard, ...words];
  let helper: number;
  try {
    helper = openSync(pmix.helper, "r");
  } catch (error) {
    setImmediate(() => events.failed(`its PMIx server cannot be started: ${(error as Error).message}`));
    return { fenceDone: () => undefined, close: () => undefined };
  }
  const child = spawn(program, args, {
    cwd: "/",
    env: { PATH: "/usr/bin:/bin", LATTICE_ATTEMPT_DIR: spec.environment.LATTICE_ATTEMPT_DIR ?? "" },
    stdio: ["pipe", "pipe", "ignore", helper],
  });
  closeSync(helper);
  const { stdin, stdout } = child;
  const variables = new Map<number, Readonly<Record<string, string>>>();
  let closed = false;

  function hear(line: string): void {
    const [kind = "", first = "", second = "", ...rest] = line.split(" ");
    if (kind === "env") hearVariables(line.slice("env ".length));
    else if (kind === "ready") events.ready(variables);
    else if (kind === "connected") events.connected(Number(first));
    else if (kind === "finalized") events.finalized(Number(first));
    else if (kind === "fence") events.fence(Number(first), second);
    else if (kind === "abort") events.abort(Number(first), Number(second), rest.join(" "));
    else if (kind === "spawn") events.spawn(Number(first));
    else if (kind === "publish" || kind === "lookup" || kind === "unpublish") hearNames(kind, first, second, rest);
    else if (kind === "failed") events.failed(`its PMIx server: ${line.slice("failed ".length)}`);
  }

  function hearNames(act: NameAct, id: string, seconds: string, words: readonly string[]): void {
    const step = act === "publish" ? 2 : 1;
    const keys = words.filter((_, at) => at % step === 0);
    const entries = keys.map((key, at) => [`${PMIX_NAME}${key}`, step === 1 ? "" : (words[2 * at + 1] ?? "")] as const);
    events.names({ act, entries, waitSeconds: Number(seconds) }, ({ problem, found }) => {
      const pairs = found.map(([key, value]) => ` ${key.slice(PMIX_NAME.length)} ${value}`);
      stdin?.write(`named ${id} ${problem === "" ? "ok" : problem}${pairs.join("")}\n`);
    });
  }

  function hearVariables(text: string): void {
    const [rank = "", ...pairs] = text.split("\t");
    const named = pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)] as const);
    variables.set(Number(rank), Object.fromEntries(named));
  }

  let text = "";
  stdout?.on("data", (bytes: Buffer) => {
    const lines = (text + bytes.toString("latin1")).split("\n");
    text = lines.pop() ?? "";
    // The user's process may write anything.
    if (text.length > MAX_LINE) return void child.kill("SIGKILL");
    for (const line of lines) hear(line);
  });
  stdin?.on("error", () => undefined);
  child.once("error", (error) => events.failed(`its PMIx server cannot be started: ${error.message}`));
  child.once("close", (code, signal) => {
    if (!closed) events.failed(`its PMIx server ended by itself (${signal ?? code})`);
  });
  return {
    fenceDone: (number, all) => void stdin?.write(`fence ${number} ${all}\n`),
    close() {
      closed = true;
      // It removes its folder itself: a path from a user's process is never used here.
      stdin?.end();
      setTimeout(() => child.kill("SIGKILL"), REMOVE_FOLDER_MS).unref();
    },
  };
}
