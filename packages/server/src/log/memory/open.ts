// The log in memory, for tests, simulation and replay. Several handles on one store act as several servers on one log, so that
// elections and fencing work within one process. Tests inject faults around each append.

import { logIndex } from "@lattice/core";
import { checkAppend } from "../contract/check-append.ts";
import { type Followed, follow } from "../contract/follow.ts";
import {
  type Leadership,
  LogError,
  type LogStatus,
  type ReplicatedLog,
  type StoredEntry,
} from "../contract/replicated-log.ts";
import { appendTo, createMemoryStore, lastIndexIn, type MemoryStore, saveSnapshotIn, truncateIn } from "./store.ts";

const MAX_ENTRY_BYTES = 4 * 1024 * 1024;
const KEEP_SNAPSHOTS = 5;
/** Entries per batch, so that a reader far behind does not block the others. */
const READ_BATCH = 1024;

export interface MemoryFaults {
  /** May delay, or throw a LogError: then nothing is written. */
  beforeAppend?(entries: readonly StoredEntry[]): void | Promise<void>;
  /** The entries are stored. May delay, or throw: then the author does not learn that they are. */
  afterAppend?(entries: readonly StoredEntry[]): void | Promise<void>;
}

interface MemoryLogOptions {
  /** Shared with other handles. Default: a new store. */
  readonly store?: MemoryStore;
  readonly name?: string;
  readonly faults?: MemoryFaults;
  readonly maxEntryBytes?: number;
  readonly keepSnapshots?: number;
  readonly nowMs?: () => number;
}

export function openMemoryLog(options: MemoryLogOptions = {}): ReplicatedLog {
  const store = options.store ?? createMemoryStore();
  const { maxEntryBytes = MAX_ENTRY_BYTES, keepSnapshots: keep = KEEP_SNAPSHOTS, nowMs = Date.now } = options;
  const handle = {};
  let closed = false;
  let unwritable: string | null = null;
  store.handles.set(handle, options.name ?? `memory-${store.handles.size + 1}`);

  const lastIndex = (): number => lastIndexIn(store);
  const refuseClosed = (): void => {
    if (closed) throw new LogError("closed", "the log is closed");
  };

  const write = async (leadership: Leadership, entries: readonly StoredEntry[]): Promise<void> => {
    const check = (): void => {
      const leads = store.election.holds(leadership);
      checkAppend(leadership, entries, { closed, leads, lastIndex: lastIndex(), maxEntryBytes });
    };
    check();
    try {
      await options.faults?.beforeAppend?.(entries);
      check(); // The leadership may have ended during the injected delay.
      appendTo(store, entries);
      await options.faults?.afterAppend?.(entries);
      unwritable = null;
    } catch (cause) {
      if (cause instanceof LogError && (cause.code === "storage_full" || cause.code === "unavailable"))
        unwritable = cause.message;
      throw cause;
    }
  };

  const followed: Followed = {
    changes: store.changes,
    closed: () => closed,
    firstIndex: () => store.firstIndex,
    lastIndex,
    fetch: async (from) => store.entries.slice(from - store.firstIndex, from - store.firstIndex + READ_BATCH),
  };

  return {
    maxEntryBytes,
    async campaign(candidate, signal) {
      refuseClosed();
      return store.election.campaign(handle, candidate, signal);
    },
    append: (leadership, entries) => store.writes(() => write(leadership, entries)),
    read: (from, signal) => follow(followed, from, signal),
    async head() {
      refuseClosed();
      return logIndex(lastIndex());
    },
    async saveSnapshot(at, lines) {
      refuseClosed();
      return saveSnapshotIn(store, { ...at, keep, takenAtMs: nowMs() }, [...lines]);
    },
    async loadSnapshot() {
      refuseClosed();
      const newest = store.snapshots.findLast((snapshot) => !snapshot.corrupt);
      return newest === undefined ? null : { info: newest.info, lines: inOrder(newest.lines) };
    },
    async truncate(through) {
      refuseClosed();
      truncateIn(store, through);
    },
    status: () => statusOf(store, closed ? "the log is closed" : unwritable),
    present: () => [],
    async members() {
      refuseClosed();
      const leader = store.election.leader()?.owner ?? null;
      return [...store.handles].map(([owner, id]) => ({ id, name: "memory", leader: owner === leader, healthy: true }));
    },
    async close() {
      if (closed) return;
      closed = true;
      store.election.withdraw(handle);
      store.handles.delete(handle);
      store.changes.notify();
      await store.writes.idle();
    },
  };
}

const statusOf = (store: MemoryStore, unwritable: string | null): LogStatus => ({
  engine: "memory",
  term: store.term,
  firstIndex: logIndex(store.firstIndex),
  lastIndex: logIndex(lastIndexIn(store)),
  snapshot: store.snapshots.at(-1)?.info ?? null,
  bytes: store.bytes,
  leader: store.election.leader()?.candidate ?? null,
  unwritable,
});

async function* inOrder(lines: readonly string[]): AsyncGenerator<string, void, undefined> {
  yield* lines;
}
