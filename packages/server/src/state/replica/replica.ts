// The local copy of the state: restored from the newest snapshot, then maintained from the log. Every server has one, the
// leader included. An entry is applied here only after it is durable, and the outcome of a command comes from here.
//
// It deliberately performs no effects on nodes: it passes `Applied` to listeners, and only a leader's listeners act.

import {
  type Applied,
  applyEntry,
  beginRestore,
  copyLines,
  createState,
  decodeEntry,
  type Instant,
  instant,
  type LogIndex,
  logIndex,
  type RestoreProof,
  recordsToHash,
  type State,
  snapshotLines,
  stateHash,
  type Term,
  term,
  type View,
  warmStateHash,
} from "@lattice/core";
import { type Clock, systemClock } from "../../base/clock.ts";
import type { ReplicatedLog, StoredEntry } from "../../log/contract/replicated-log.ts";
import { ChainRecord, type TermStart } from "./chain.ts";
import { createEventFeed, type EventFeed } from "./event-feed.ts";
import { sha256 } from "./hash.ts";
import { HashSeries, type StateMark } from "./hash-series.ts";
import { createWarmer, WARM_RECORDS } from "./warmer.ts";

/** The last applied entry; the next entry must have `hash` as its prevHash. */
export interface ChainHead {
  readonly index: LogIndex;
  readonly term: Term;
  readonly hash: string;
  readonly at: Instant;
  /** Only in the header of a snapshot. */
  readonly terms?: readonly TermStart[];
}

export interface Replica {
  readonly view: View;
  readonly feed: EventFeed;
  head(): ChainHead;
  /** The hashes by which the log is compared with another copy. */
  readonly chain: Pick<ChainRecord, "at" | "last">;
  stateHash(): string;
  /** Returns `null` while computing it would block the event loop, as after the restore of a large state. */
  stateHashIfCheap(): string | null;
  /** The state hashes of recent entries, oldest first. */
  stateMarks(): readonly StateMark[];
  /** Called for every entry, in order, right after it was applied. `bytes` are those of the log. */
  onApplied(listener: OnApplied): () => void;
  waitFor(index: LogIndex, signal: AbortSignal): Promise<void>;
  /** Returns the bytes of all entries applied since this replica was opened, including the replay. */
  appliedBytes(): number;
  /** Returns false while a snapshot would block the event loop, because much of the state hash is outdated. */
  isWarm(): boolean;
  /** Returns false until a restored state matches its hash; nothing of it may be saved before. */
  isProven(): boolean;
  /** Returns a snapshot at the current index: a header, then the lines of the state. Throws once the replica has failed. */
  snapshot(): { readonly at: ChainHead; readonly lines: Iterable<string> };
  /** Returns the lines of a snapshot for the same process, without the state hash. */
  copy(): Iterable<string>;
  /** Rejects when the log cannot be followed (corrupt, or written by a newer version) or its snapshot is damaged. */
  readonly failed: Promise<never>;
  close(): Promise<void>;
}

type OnApplied = (applied: Applied, bytes: Uint8Array) => void;

/** `first` is called for every entry, including the replay; the replica fails with the error that it throws. */
export async function openReplica(
  log: ReplicatedLog,
  first: (applied: Applied, view: View) => void,
  clock: Clock = systemClock,
): Promise<Replica> {
  const restored = await restore(log);
  const state = restored.state;
  let head = restored.head;
  const chain = new ChainRecord(head);
  let bytes = 0;
  let broken = false;
  const feed = createEventFeed();
  feed.begin(head.index);
  const series = new HashSeries(state, clock);
  series.waitForRest();

  const listeners = new Set<OnApplied>([(applied) => first(applied, state)]);
  const waiters = new Waiters();
  const stop = new AbortController();
  let proof = restored.proof;
  let disprove: (error: unknown) => void = () => {};
  const disproved = new Promise<never>((_, reject) => {
    disprove = reject;
  });
  disproved.catch(() => {}); // `failed` reports it
  const warmer = createWarmer(clock, () =>
    proof === null ? warmStateHash(state, sha256, WARM_RECORDS) : prove(proof),
  );
  const following = Promise.race([follow(), disproved]);
  if (proof !== null) warmer.later();

  return {
    view: state,
    feed,
    head: () => head,
    chain,
    stateHash: () => stateHash(state, sha256),
    stateHashIfCheap: () => (recordsToHash(state) > CHEAP_RECORDS ? null : stateHash(state, sha256)),
    stateMarks: () => series.marks(),
    onApplied(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    waitFor: (index, signal) => waiters.until(index, () => head.index, signal),
    appliedBytes: () => bytes,
    isWarm: () => warmer.done(),
    isProven: () => proof === null,
    snapshot() {
      // An entry that threw may have left the state half changed: nothing of it may be kept.
      if (broken) throw new Error("the replica has failed: its state cannot be saved");
      return { at: head, lines: withHeader({ ...head, terms: chain.terms() }, snapshotLines(state, sha256)) };
    },
    copy: () => copyLines(state),
    failed: following.then(() => new Promise<never>(() => {})),
    async close() {
      stop.abort();
      warmer.close();
      series.close();
      await following.catch(() => {});
    },
  };

  /** Returns whether more remains to be done. */
  function prove(open: RestoreProof): boolean {
    try {
      if (!open.step(PROVE_RECORDS)) proof = null;
      return true;
    } catch (error) {
      broken = true;
      stop.abort();
      disprove(error);
      return false;
    }
  }

  async function follow(): Promise<void> {
    const from = logIndex(head.index + 1);
    try {
      for await (const batch of log.read(from, stop.signal)) {
        for (const stored of batch) applyStored(stored);
        waiters.wake(head.index);
        warmer.later();
      }
    } catch (error) {
      broken = true;
      throw error;
    }
  }

  function applyStored(stored: StoredEntry): void {
    const entry = decodeEntry(new TextDecoder().decode(stored.bytes));
    if (entry.prevHash !== head.hash) {
      throw new Error(
        `the log is broken between entries ${head.index} and ${entry.index}: the chain of hashes does not match`,
      );
    }
    const applied = applyEntry(state, entry);
    series.applied(head.at);
    head = { index: entry.index, term: entry.term, hash: sha256(stored.bytes), at: entry.at };
    chain.append(head.index, head.term, head.hash);
    bytes += stored.bytes.byteLength;
    feed.record(applied);
    for (const listener of listeners) listener(applied, stored.bytes);
  }
}

/** Records hashed within one request: about 50 milliseconds. */
const CHEAP_RECORDS = 4_096;
/** Records of a restored state verified in one turn; more than `WARM_RECORDS`, because it blocks snapshots. */
const PROVE_RECORDS = 256;
interface Restored {
  readonly state: State;
  readonly head: ChainHead;
  /** `null` when there is nothing to prove. */
  readonly proof: RestoreProof | null;
}

const BEGINNING: ChainHead = { index: logIndex(0), term: term(0), hash: "", at: instant(0) };

async function restore(log: ReplicatedLog): Promise<Restored> {
  const snapshot = await log.loadSnapshot();
  if (snapshot === null) return { state: createState(), head: BEGINNING, proof: null };
  const building = beginRestore(sha256);
  let head: ChainHead | null = null;
  for await (const line of snapshot.lines) {
    if (head === null) head = JSON.parse(line) as ChainHead;
    else building.line(line);
  }
  if (head === null) throw new Error(`the snapshot at entry ${snapshot.info.index} is empty`);
  // The engine has checked that these are the bytes that were written.
  return { ...building.finishEarly(), head };
}

function* withHeader(head: ChainHead, lines: Iterable<string>): Iterable<string> {
  yield JSON.stringify(head);
  yield* lines;
}

/** Callers waiting for an index to be applied. */
class Waiters {
  readonly #waiting = new Set<{ readonly index: LogIndex; readonly resolve: () => void }>();

  until(index: LogIndex, current: () => LogIndex, signal: AbortSignal): Promise<void> {
    if (current() >= index) return Promise.resolve();
    if (signal.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const waiter = {
        index,
        resolve: () => {
          signal.removeEventListener("abort", abandon);
          resolve();
        },
      };
      const abandon = () => {
        this.#waiting.delete(waiter);
        reject(signal.reason);
      };
      signal.addEventListener("abort", abandon, { once: true });
      this.#waiting.add(waiter);
    });
  }

  wake(applied: LogIndex): void {
    for (const waiter of this.#waiting) {
      if (waiter.index > applied) continue;
      this.#waiting.delete(waiter);
      waiter.resolve();
    }
  }
}
