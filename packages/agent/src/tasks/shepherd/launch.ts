// The launch on this node as its shepherd sees it: starts the ranks, serves them PMI, passes on what
// they write and how they end, and ends all of them when one fails. It talks to whoever is the agent
// at the moment through `say`; it never looks at files or sockets of the agent itself.

import type { PmixSpec, ShepherdOrder, ShepherdReport, ShepherdSpec } from "../frames.ts";
import type { Entry, NameEffect } from "../name-types.ts";
import { framing } from "../pmi/framing.ts";
import { type PmiEffect, pmiServer } from "../pmi/server.ts";
import { inputPlace } from "./input.ts";
import { nameDesk } from "./names.ts";
import { findObstacle } from "./obstacle.ts";
import { type PmixServer, startPmix } from "./pmix.ts";
import { type Rank, type RankEnd, startRank } from "./rank.ts";

export interface LaunchOptions {
  readonly spec: ShepherdSpec;
  /** Path of setpriv, or "" where there is none. */
  readonly setpriv: string;
  readonly say: (report: ShepherdReport) => void;
  /** A question about names that need not be asked again. */
  readonly answered: (id: number) => void;
  /** Whether ranks may go on writing. */
  readonly full: () => boolean;
}

export interface RunningLaunch {
  take(order: ShepherdOrder): void;
  /** There is room again for output. */
  resume(): void;
  done(): boolean;
}

/** Between SIGTERM and SIGKILL when a launch is ended before its time. */
const KILL_AFTER_MS = 2_000;
/** A rank that says abort ends by itself, with its own last words. */
const ABORT_LINGER_MS = 200;
const FAILED = 1;
const NO_SPAWN = "wants more tasks (MPI_Comm_spawn), which a launch cannot add: ask for all of them with -n";

export function startLaunch({ spec, setpriv, say, answered, full }: LaunchOptions): RunningLaunch {
  const ranks = Array.from({ length: spec.tasks }, (_, n) => spec.firstRank + n);
  const pmi = pmiServer({ jobId: spec.launchId, size: spec.size, ranks, mapping: spec.mapping });
  const names = nameDesk(say, answered);
  const running = new Map<number, Rank>();
  const input = inputPlace();
  /** Ranks that speak PMIx and have not said goodbye. */
  const open = new Set<number>();
  let pmix: PmixServer | null = null;
  let wiredUp = false;
  const aborted = new Set<number>();
  let ending = false;
  let told = false;
  let over = false;
  let fenceTimer: NodeJS.Timeout | null = null;

  const obstacle = findObstacle(spec);
  if (obstacle !== null) for (const rank of ranks) ended(rank, obstacle);
  else if (spec.pmix === null) for (const [local, rank] of ranks.entries()) start(local, rank);
  else pmix = servePmix(spec.pmix);

  function servePmix(wanted: PmixSpec): PmixServer {
    const failed = (message: string): void => {
      if (running.size > 0) abort(spec.firstRank, FAILED, message);
      else for (const rank of ranks) ended(rank, { code: FAILED, signal: 0, message });
    };
    fenceTimer = setTimeout(() => failed("its PMIx server did not get ready"), spec.fenceTimeoutMs);
    return startPmix(spec, wanted, setpriv, {
      ready(variables) {
        if (fenceTimer !== null) clearTimeout(fenceTimer);
        fenceTimer = null;
        if (!ending) for (const [local, rank] of ranks.entries()) start(local, rank, variables.get(rank));
      },
      connected(rank) {
        open.add(rank);
        if (!wiredUp) fenceTimer ??= setTimeout(() => fenceTimeout(spec.tasks - open.size), spec.fenceTimeoutMs);
      },
      finalized: (rank) => void open.delete(rank),
      fence(number, brought) {
        if (spec.spread) say({ kind: "fence", number, entries: [["pmix", brought]] });
        else pmixFenceDone(number, brought);
      },
      abort,
      failed,
      spawn: refuseSpawn,
      names: (question, answered) => names.ask(question, answered),
    });
  }

  function pmixFenceDone(number: number, all: string): void {
    wiredUp = true;
    if (fenceTimer !== null) clearTimeout(fenceTimer);
    fenceTimer = null;
    pmix?.fenceDone(number, all);
  }

  function start(local: number, rank: number, variables: Readonly<Record<string, string>> = {}): void {
    const cut = framing();
    const child = startRank(
      spec,
      { localRank: local, setpriv, variables },
      {
        output(stream, data) {
          say({ kind: "output", rank, stream, data });
          if (full()) for (const one of running.values()) one.pause();
        },
        pmi(bytes) {
          for (const framed of cut.push(bytes)) {
            if (framed.kind === "message") perform(pmi.receive(rank, framed.version, framed.message));
            else abort(rank, FAILED, `its PMI connection is broken: ${framed.detail}`);
          }
        },
        ended: (end) => ended(rank, end),
      },
    );
    running.set(rank, child);
  }

  function perform(effects: readonly PmiEffect[]): void {
    for (const effect of effects) {
      if (effect.kind === "reply") running.get(effect.rank)?.answer(effect.text);
      else if (effect.kind === "abort") abort(effect.rank, effect.exitCode, effect.message);
      else if (effect.kind === "spawn") refuseSpawn(effect.rank);
      else if (effect.kind === "name") askForName(effect);
      else if (spec.spread) say({ kind: "fence", number: effect.number, entries: effect.entries });
      else perform(pmi.fenceDone(effect.number, effect.entries));
    }
    watchFence();
  }

  function askForName(effect: NameEffect): void {
    const { act, name, value } = effect;
    names.ask({ act, entries: [[name, value]], waitSeconds: 0 }, (answer) => perform(pmi.named(effect, answer)));
  }

  /** The library's own words for it are none that a user could do anything with. */
  function refuseSpawn(rank: number): void {
    say({ kind: "output", rank, stream: "stderr", data: Buffer.from(`lattice: task ${rank} ${NO_SPAWN}\n`) });
  }

  /** Ranks that wait for others although nothing is computed yet must not wait for ever. */
  function watchFence(): void {
    if (!pmi.wiringUp()) {
      if (fenceTimer !== null) clearTimeout(fenceTimer);
      fenceTimer = null;
      return;
    }
    fenceTimer ??= setTimeout(() => fenceTimeout(spec.tasks - pmi.waiting()), spec.fenceTimeoutMs);
  }

  /** `missing`: ranks of this node. */
  function fenceTimeout(missing: number): void {
    const seconds = spec.fenceTimeoutMs / 1000;
    const whose = missing > 0 ? `${missing} of ${spec.tasks} ranks of this node` : "ranks of other nodes";
    abort(spec.firstRank, FAILED, `PMI fence timeout: ${whose} did not come within ${seconds} s`);
  }

  function abort(rank: number, code: number, message: string): void {
    if (aborted.has(rank)) return;
    aborted.add(rank);
    say({ kind: "abort", rank, code, message });
    setTimeout(end, ABORT_LINGER_MS);
  }

  function ended(rank: number, { code, signal, message }: RankEnd): void {
    running.delete(rank);
    const silent = code === 0 && !ending && (pmi.unfinished(rank) || open.has(rank));
    if (silent) say({ kind: "abort", rank, code: FAILED, message: "it ended without MPI_Finalize" });
    say({ kind: "exit", rank, code, signal, message });
    if (code !== 0 || silent) end();
    if (running.size === 0) finish();
  }

  function finish(): void {
    if (fenceTimer !== null) clearTimeout(fenceTimer);
    pmix?.close();
    over = true;
    say({ kind: "done" });
  }

  function fenceDone(number: number, entries: readonly Entry[]): void {
    if (spec.pmix === null) perform(pmi.fenceDone(number, entries));
    else pmixFenceDone(number, entries.map(([, brought]) => brought).join(""));
  }

  /** Said once, so that whoever leads next knows what it ends with. */
  function killed({ code, reason }: { readonly code: number; readonly reason: string }): void {
    if (told || over) return;
    told = true;
    say({ kind: "killed", code, reason });
    end();
  }

  function end(): void {
    if (ending) return;
    ending = true;
    // Before its server was ready no rank was started.
    if (pmix !== null && running.size === 0 && !over) finish();
    signalAll("SIGTERM");
    setTimeout(() => signalAll("SIGKILL"), KILL_AFTER_MS);
  }

  function signalAll(name: NodeJS.Signals): void {
    for (const rank of running.values()) {
      // One that is held back could not end.
      rank.resume();
      rank.signal(name);
    }
  }

  return {
    take(order) {
      if (order.kind === "fence_done") fenceDone(order.number, order.entries);
      if (order.kind === "input_at") input.at(order.offset);
      if (order.kind === "input") running.get(0)?.write(input.fresh(order.data), order.end);
      if (order.kind === "resize") running.get(0)?.resize(order);
      if (order.kind === "named") names.answer(order.id, order);
      if (order.kind === "kill") killed(order);
    },
    resume() {
      if (!full()) for (const rank of running.values()) rank.resume();
    },
    done: () => over,
  };
}
