// The only place where commands enter the log. Commands that arrive during a write form the next entry (group commit).
// The sequencer numbers, stamps and chains entries; the outcome of a command comes from the replica once its entry is
// durable and applied, never earlier.

import {
  type AllocationSpec,
  type Applied,
  type Command,
  type Entry,
  encodeEntry,
  entryVersion,
  instant,
  type LogIndex,
  logIndex,
} from "@lattice/core";
import { ProblemError } from "@lattice/wire";
import type { Clock } from "../../base/clock.ts";
import { type Leadership, LogError, type ReplicatedLog } from "../../log/contract/replicated-log.ts";
import type { Committed } from "../../state/committed.ts";
import { sha256 } from "../../state/replica/hash.ts";
import type { ChainHead, Replica } from "../../state/replica/replica.ts";
import { addsWork } from "./new-work.ts";
import { type EntryReader, tooNewFor } from "./versions.ts";

export interface Sequencer {
  propose(command: Command): Promise<Committed>;
  /** Refuses new commands and waits for those in flight. */
  close(): Promise<void>;
}

/** Commands in one entry: bounds how long one apply may hold the event loop. */
const MAX_BATCH = 512;
/** Turns of the event loop that a batch waits at most for more commands; one when none arrive. */
const GATHER_TURNS = 8;
/** Waiting commands. Further ones are refused as retryable, so that memory stays bounded. */
const MAX_QUEUE = 20_000;
/** Share of the engine's entry limit that a batch fills, by a cheap estimate of its size. */
const FILL = 0.5;

interface Waiting {
  readonly command: Command;
  readonly resolve: (proposal: Committed) => void;
  readonly reject: (error: unknown) => void;
}

interface InFlight {
  readonly batch: readonly Waiting[];
  /** Hash of the entry that contains the batch. */
  readonly hash: string;
}

interface Options {
  readonly log: ReplicatedLog;
  readonly replica: Replica;
  readonly leadership: Leadership;
  readonly clock: Clock;
  readonly onBatch: (commands: number, seconds: number) => void;
  /** Returns the other servers with the newest entry version that each can apply. */
  readonly readers: () => readonly EntryReader[];
  /** Returns why there is no space for new work; `null` while there is. Default: there always is. */
  readonly storageFull?: () => string | null;
}

export const startSequencer = (options: Options): Sequencer => new LogSequencer(options);

class LogSequencer implements Sequencer {
  readonly #options: Options;
  #queue: Waiting[] = [];
  #writing: Promise<void> | null = null;
  #isClosed = false;
  #head: ChainHead;
  readonly #inFlight = new Map<LogIndex, InFlight>();
  readonly #unsubscribe: () => void;

  constructor(options: Options) {
    this.#options = options;
    this.#head = options.replica.head();
    this.#unsubscribe = options.replica.onApplied((applied) => this.#settle(applied));
    options.leadership.lost.addEventListener("abort", () => this.#abandon(), { once: true });
  }

  propose(command: Command): Promise<Committed> {
    const { leadership, readers } = this.#options;
    if (this.#isClosed || leadership.lost.aborted) return Promise.reject(notLeader());
    if (this.#queue.length >= MAX_QUEUE) return Promise.reject(overloaded());
    const full = addsWork(command) ? this.#storageFull() : null;
    if (full !== null) return Promise.reject(storageFull(full));
    const tooNew = tooNewFor(command, readers);
    if (tooNew !== null) return Promise.reject(tooNew);
    return new Promise((resolve, reject) => {
      this.#queue.push({ command, resolve, reject });
      this.#writing ??= this.#write();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#writing;
    this.#unsubscribe();
  }

  async #write(): Promise<void> {
    while (this.#queue.length > 0) {
      await this.#gather();
      const count = batchSize(this.#queue, this.#options.log.maxEntryBytes * FILL);
      const batch = this.#queue.slice(0, count);
      this.#queue = this.#queue.slice(count);
      await this.#append(batch);
    }
    // In the same turn as the last check of the queue: a later command starts a new write.
    this.#writing = null;
  }

  /** A write costs a thread switch and a disk flush, so a batch grows while each turn brings more commands. */
  async #gather(): Promise<void> {
    for (let turns = 0, before = 0; turns < GATHER_TURNS && this.#queue.length > before; turns += 1) {
      before = this.#queue.length;
      await this.#options.clock.turn();
    }
  }

  async #append(batch: readonly Waiting[]): Promise<void> {
    const { log, leadership, clock, onBatch } = this.#options;
    const began = clock.worked();
    const commands = batch.map((waiting) => waiting.command);
    const entry = {
      index: logIndex(this.#head.index + 1),
      term: leadership.term,
      version: entryVersion(commands),
      at: instant(Math.max(clock.now(), this.#head.at)),
      prevHash: this.#head.hash,
      commands,
    };
    let hash: string;
    try {
      const bytes = encode(entry);
      hash = sha256(bytes);
      this.#inFlight.set(entry.index, { batch, hash });
      await log.append(leadership, [{ index: entry.index, term: entry.term, bytes }]);
    } catch (error) {
      this.#inFlight.delete(entry.index);
      return this.#recover(batch, error);
    }
    this.#head = { index: entry.index, term: entry.term, hash, at: entry.at };
    onBatch(batch.length, (clock.worked() - began) / 1000);
  }

  async #recover(batch: readonly Waiting[], error: unknown): Promise<void> {
    // Too large together, or one of them cannot be encoded: the other commands must still be written.
    const isContent = error instanceof Unwritable || (error instanceof LogError && error.code === "too_large");
    if (isContent && batch.length > 1) {
      const middle = Math.ceil(batch.length / 2);
      await this.#append(batch.slice(0, middle));
      await this.#append(batch.slice(middle));
      return;
    }
    const full = isUnavailable(error) ? this.#storageFull() : null;
    const problem = full === null ? problemOf(error) : storageFull(full);
    for (const waiting of batch) waiting.reject(problem);
    if (!isContent && !recoverable(error)) await this.#options.leadership.resign().catch(() => {});
  }

  #storageFull(): string | null {
    return this.#options.storageFull?.() ?? null;
  }

  #settle(applied: Applied): void {
    const written = this.#inFlight.get(applied.index);
    // An append that reported a failure may have succeeded. Its entry then has this index, and its outcomes must not
    // be given to the commands of another entry.
    if (written === undefined || written.hash !== this.#options.replica.head().hash) return;
    this.#inFlight.delete(applied.index);
    written.batch.forEach((waiting, n) => {
      const outcome = applied.outcomes[n];
      if (outcome === undefined) waiting.reject(new Error(`entry ${applied.index} has no outcome for command ${n}`));
      else waiting.resolve({ outcome, index: applied.index });
    });
  }

  #abandon(): void {
    const waiting = [...this.#queue, ...[...this.#inFlight.values()].flatMap(({ batch }) => batch)];
    this.#queue = [];
    this.#inFlight.clear();
    for (const one of waiting) one.reject(notLeader());
  }
}

/** Returns how many waiting commands fit into one entry of `limitBytes`; at least one. */
function batchSize(queue: readonly Waiting[], limitBytes: number): number {
  let size = 0;
  let count = 0;
  for (const { command } of queue.slice(0, MAX_BATCH)) {
    size += estimate(command);
    if (count > 0 && size > limitBytes) break;
    count += 1;
  }
  return count;
}

/** Large parts only: scripts and plans. Exact sizes come from encoding, which must happen once. */
function estimate(command: Command): number {
  if (command.kind === "allocation.submit" || command.kind === "group.submit") return estimateSpec(command.spec);
  if (command.kind === "dag.submit") return command.members.reduce((sum, { spec }) => sum + estimateSpec(spec), 600);
  if (command.kind === "plan.commit")
    return 200 + command.placements.reduce((sum, p) => sum + 200 + p.nodes.length * 24, 0);
  return 600;
}

function estimateSpec({ task, environment, dependsOn = [] }: AllocationSpec): number {
  const text = task.kind === "script" ? task.text : task.kind === "entrypoint" ? task.line : task.words.join(" ");
  let size = 1_000 + text.length * 2 + dependsOn.length * 64;
  for (const [name, value] of Object.entries(environment.variables)) size += name.length + value.length + 8;
  return size;
}

/** A command without canonical text: a bug of its proposer, which must not affect other commands. */
class Unwritable extends Error {}

function encode(entry: Entry): Uint8Array {
  try {
    return new TextEncoder().encode(encodeEntry(entry));
  } catch (cause) {
    throw new Unwritable("a command cannot be written to the log", { cause });
  }
}

/** A store that is stopped by a full disk is unavailable. */
const isUnavailable = (error: unknown): boolean => error instanceof LogError && error.code === "unavailable";

const recoverable = (error: unknown): boolean =>
  isUnavailable(error) || (error instanceof LogError && error.code === "storage_full");

function problemOf(error: unknown): unknown {
  if (!(error instanceof LogError)) return error;
  if (error.code === "storage_full") return storageFull(error.message);
  if (error.code === "too_large") return new ProblemError("body_too_large", { detail: error.message });
  if (error.code === "lost_leadership" || error.code === "wrong_index") return notLeader();
  return new ProblemError("log_unavailable", { detail: error.message });
}

const storageFull = (detail: string) => new ProblemError("storage_full", { detail });
const notLeader = () => new ProblemError("not_leader", { detail: "This server does not lead at the moment." });
const overloaded = () =>
  new ProblemError("log_unavailable", {
    detail: "Too many writes are waiting for the log.",
    hint: "Try again shortly.",
  });
