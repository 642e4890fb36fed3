// The launch on this node as its shepherd runs it: starts the ranks, serves them PMI, passes on their output and
// exits, and ends all of them when one fails. It talks to the current agent only through `say`.

import type { NameEffect, PmiEntry } from "../base/name-types.ts";
import type { PmixSpec, ShepherdOrder, ShepherdReport, ShepherdSpec } from "../frames.ts";
import { framing } from "../pmi/framing.ts";
import { type PmiEffect, type PmiServer, pmiServer } from "../pmi/server.ts";
import { inputPlace } from "./input.ts";
import { type NameRequests, nameRequests } from "./names.ts";
import { findObstacle } from "./obstacle.ts";
import { type PmixServer, startPmix } from "./pmix.ts";
import { type Rank, type RankEnd, startRank } from "./rank.ts";

interface ShepherdLaunchOptions {
  readonly spec: ShepherdSpec;
  /** Path of setpriv, or "". */
  readonly setpriv: string;
  readonly say: (report: ShepherdReport) => void;
  /** This name request need not be repeated. */
  readonly answered: (id: number) => void;
  /** Returns whether ranks must stop writing. */
  readonly full: () => boolean;
}

export interface RunningLaunch {
  take(order: ShepherdOrder): void;
  /** Output may continue. */
  resume(): void;
  done(): boolean;
}

/** Grace when a launch is ended early. */
const KILL_AFTER_MS = 2_000;
/** An aborting rank exits by itself, after its last output. */
const ABORT_LINGER_MS = 200;
const FAILED = 1;
const NO_SPAWN = "requested more tasks (MPI_Comm_spawn), which a launch cannot add: start all of them with -n";

export const startLaunch = (options: ShepherdLaunchOptions): RunningLaunch => new NodeLaunch(options);

class NodeLaunch implements RunningLaunch {
  readonly #options: ShepherdLaunchOptions;
  readonly #spec: ShepherdSpec;
  readonly #ranks: readonly number[];
  readonly #pmi: PmiServer;
  readonly #names: NameRequests;
  readonly #running = new Map<number, Rank>();
  readonly #input = inputPlace();
  /** Ranks that have initialized PMIx and not finalized it. */
  readonly #openPmix = new Set<number>();
  #pmix: PmixServer | null = null;
  #wiredUp = false;
  readonly #aborted = new Set<number>();
  #ending = false;
  #killReported = false;
  /** Every rank has ended. */
  #finishing = false;
  /** The end was reported. */
  #over = false;
  #fenceTimer: NodeJS.Timeout | null = null;

  constructor(options: ShepherdLaunchOptions) {
    const { spec, say, answered } = options;
    this.#options = options;
    this.#spec = spec;
    this.#ranks = Array.from({ length: spec.tasks }, (_, n) => spec.firstRank + n);
    this.#pmi = pmiServer({ jobId: spec.launchId, size: spec.size, ranks: this.#ranks, mapping: spec.mapping });
    this.#names = nameRequests(say, answered);
    const obstacle = findObstacle(spec);
    if (obstacle !== null) for (const rank of this.#ranks) this.#onRankEnd(rank, obstacle);
    else if (spec.pmix === null) this.#startAll();
    else this.#pmix = this.#servePmix(spec.pmix);
  }

  take(order: ShepherdOrder): void {
    if (order.kind === "fence_done") this.#onFenceDone(order.number, order.entries);
    if (order.kind === "input_at") this.#input.at(order.offset);
    if (order.kind === "input") this.#running.get(0)?.write(this.#input.fresh(order.data), order.end);
    if (order.kind === "resize") this.#running.get(0)?.resize(order);
    if (order.kind === "named") this.#names.answer(order.id, order);
    if (order.kind === "kill") this.#kill(order);
  }

  resume(): void {
    if (this.#options.full()) return;
    for (const rank of this.#running.values()) rank.resume();
    this.#pmix?.resume();
  }

  done(): boolean {
    return this.#over;
  }

  #startAll(variables: ReadonlyMap<number, Readonly<Record<string, string>>> = new Map()): void {
    for (const [local, rank] of this.#ranks.entries()) this.#start(local, rank, variables.get(rank) ?? {});
  }

  #start(localRank: number, rank: number, variables: Readonly<Record<string, string>>): void {
    const { setpriv, say } = this.#options;
    const cut = framing();
    const child = startRank(
      this.#spec,
      { localRank, setpriv, variables },
      {
        output: (stream, data) => {
          say({ kind: "output", rank, stream, data });
          this.#holdWhenFull();
        },
        pmi: (bytes) => {
          for (const framed of cut.push(bytes)) {
            if (framed.kind === "message") this.#perform(this.#pmi.receive(rank, framed.version, framed.message));
            else this.#abort(rank, FAILED, `its PMI connection is broken: ${framed.detail}`);
          }
          this.#holdWhenFull();
        },
        ended: (end) => this.#onRankEnd(rank, end),
      },
    );
    this.#running.set(rank, child);
  }

  /** Ranks and their PMIx server wait until the reports are confirmed. */
  #holdWhenFull(): void {
    if (!this.#options.full()) return;
    for (const rank of this.#running.values()) rank.pause();
    this.#pmix?.pause();
  }

  #servePmix(wanted: PmixSpec): PmixServer {
    const { spec } = this.#options;
    const onFailure = (message: string): void => {
      if (this.#finishing) return;
      if (this.#running.size > 0) this.#abort(spec.firstRank, FAILED, message);
      else for (const rank of this.#ranks) this.#onRankEnd(rank, { code: FAILED, signal: 0, message });
    };
    this.#fenceTimer = setTimeout(() => onFailure("its PMIx server did not get ready"), spec.fenceTimeoutMs);
    return startPmix(spec, wanted, this.#options.setpriv, {
      ready: (variables) => {
        this.#clearFenceTimer();
        if (!this.#ending) this.#startAll(variables);
      },
      connected: (rank) => {
        this.#openPmix.add(rank);
        if (!this.#wiredUp) this.#armFenceTimer(() => spec.tasks - this.#openPmix.size);
      },
      finalized: (rank) => void this.#openPmix.delete(rank),
      fence: (number, brought) => {
        if (spec.spread) this.#options.say({ kind: "fence", number, entries: [["pmix", brought]] });
        else this.#onPmixFenceDone(number, brought);
        this.#holdWhenFull();
      },
      abort: (rank, code, message) => this.#abort(rank, code, message),
      failed: onFailure,
      spawn: (rank) => {
        this.#refuseSpawn(rank);
        this.#holdWhenFull();
      },
      names: (question, answered) => {
        this.#names.ask(question, answered);
        this.#holdWhenFull();
      },
    });
  }

  #onFenceDone(number: number, entries: readonly PmiEntry[]): void {
    if (this.#spec.pmix === null) this.#perform(this.#pmi.fenceDone(number, entries));
    else this.#onPmixFenceDone(number, entries.map(([, brought]) => brought).join(""));
  }

  #onPmixFenceDone(number: number, all: string): void {
    this.#wiredUp = true;
    this.#clearFenceTimer();
    this.#pmix?.fenceDone(number, all);
  }

  #perform(effects: readonly PmiEffect[]): void {
    for (const effect of effects) {
      if (effect.kind === "reply") this.#running.get(effect.rank)?.answer(effect.text);
      else if (effect.kind === "abort") this.#abort(effect.rank, effect.exitCode, effect.message);
      else if (effect.kind === "spawn") this.#refuseSpawn(effect.rank);
      else if (effect.kind === "name") this.#askForName(effect);
      else if (this.#spec.spread) this.#options.say({ kind: "fence", number: effect.number, entries: effect.entries });
      else this.#perform(this.#pmi.fenceDone(effect.number, effect.entries));
    }
    // Ranks that wait for others before any computation must not wait without limit.
    if (this.#pmi.wiringUp()) this.#armFenceTimer(() => this.#spec.tasks - this.#pmi.waiting());
    else this.#clearFenceTimer();
  }

  #askForName(effect: NameEffect): void {
    const { act, name, value } = effect;
    const question = { act, entries: [[name, value]], waitSeconds: 0 } as const;
    this.#names.ask(question, (answer) => this.#perform(this.#pmi.named(effect, answer)));
  }

  /** The MPI library's own message does not help a user. */
  #refuseSpawn(rank: number): void {
    const data = Buffer.from(`lattice: task ${rank} ${NO_SPAWN}\n`);
    this.#options.say({ kind: "output", rank, stream: "stderr", data });
  }

  /** `missing` counts the ranks of this node that are not in the fence. */
  #armFenceTimer(missing: () => number): void {
    this.#fenceTimer ??= setTimeout(() => {
      const { fenceTimeoutMs, tasks, firstRank } = this.#spec;
      const left = missing();
      const whose = left > 0 ? `${left} of ${tasks} ranks of this node` : "ranks of other nodes";
      const seconds = fenceTimeoutMs / 1000;
      this.#abort(firstRank, FAILED, `PMI fence timeout: ${whose} did not arrive within ${seconds} s`);
    }, this.#spec.fenceTimeoutMs);
  }

  #clearFenceTimer(): void {
    if (this.#fenceTimer !== null) clearTimeout(this.#fenceTimer);
    this.#fenceTimer = null;
  }

  #abort(rank: number, code: number, message: string): void {
    if (this.#aborted.has(rank)) return;
    this.#aborted.add(rank);
    this.#options.say({ kind: "abort", rank, code, message });
    setTimeout(() => this.#end(), ABORT_LINGER_MS);
  }

  #onRankEnd(rank: number, { code, signal, message }: RankEnd): void {
    const { say } = this.#options;
    this.#running.delete(rank);
    const unfinished = this.#pmi.unfinished(rank) || this.#openPmix.has(rank);
    const silent = code === 0 && !this.#ending && unfinished;
    if (silent) say({ kind: "abort", rank, code: FAILED, message: "it ended without MPI_Finalize" });
    say({ kind: "exit", rank, code, signal, message });
    if (code !== 0 || silent) this.#end();
    if (this.#running.size === 0) this.#finish();
  }

  #finish(): void {
    this.#clearFenceTimer();
    this.#finishing = true;
    // The PMIx server dies with the shepherd, which may leave as soon as the end is reported.
    if (this.#pmix === null) this.#reportEnd();
    else this.#pmix.close(() => this.#reportEnd());
  }

  #reportEnd(): void {
    if (this.#over) return;
    this.#over = true;
    this.#options.say({ kind: "done" });
  }

  /** Reported once, so that the next leader knows the exit code of the launch. */
  #kill({ code, reason }: { readonly code: number; readonly reason: string }): void {
    if (this.#killReported || this.#finishing) return;
    this.#killReported = true;
    this.#options.say({ kind: "killed", code, reason });
    this.#end();
  }

  #end(): void {
    if (this.#ending) return;
    this.#ending = true;
    // Before its PMIx server was ready no rank was started.
    if (this.#pmix !== null && this.#running.size === 0 && !this.#finishing) this.#finish();
    this.#signalAll("SIGTERM");
    setTimeout(() => this.#signalAll("SIGKILL"), KILL_AFTER_MS);
  }

  #signalAll(name: NodeJS.Signals): void {
    for (const rank of this.#running.values()) {
      // A paused rank could not end.
      rank.resume();
      rank.signal(name);
    }
  }
}
