// The log in memory: for tests, simulation and replay. Several handles on one store are several
// servers on one log, so that elections and fencing can be played in one process; faults are
// injected around each append.

import type { LogIndex } from "@lattice/core";
import { checkAppend } from "../check-append.ts";
import { type Followed, follow } from "../follow.ts";
import {
  type Leadership,
  LogError,
  type ReplicatedLog,
  type SnapshotInfo,
  type StoredEntry,
} from "../replicated-log.ts";
import { createMemoryStore, type MemoryStore, type StoredSnapshot } from "./store.ts";

const MAX_ENTRY_BYTES = 4 * 1024 * 1024;
const KEEP_SNAPSHOTS = 5;
/** Entries handed to a reader at once, so that one that is far behind does not hold up the rest. */
const READ_BATCH = 1024;

export interface MemoryFaults {
  /** May delay, or throw a LogError: then nothing is written. */
  beforeAppend?(entries: readonly StoredEntry[]): void | Promise<void>;
  /** The entries are in. May delay, or throw: the author does not learn that they are. */
  afterAppend?(entries: readonly StoredEntry[]): void | Promise<void>;
}

export interface MemoryLogOptions {
  /** Shared with other handles; a store of its own when left out. */
  readonly store?: MemoryStore;
  readonly name?: string;
  readonly faults?: MemoryFaults;
  readonly maxEntryBytes?: number;
  readonly keepSnapshots?: number;
  readonly nowMs?: () => number;
}

export function openMemoryLog(options: MemoryLogOptions = {}): ReplicatedLog {
  const store = options.store ?? createMemoryStore();
  const maxEntryBytes = options.maxEntryBytes ?? MAX_ENTRY_BYTES;
  const keepSnapshots = options.keepSnapshots ?? KEEP_SNAPSHOTS;
  const nowMs = options.nowMs ?? Date.now;
  const handle = {};
  let closed = false;
  let unwritable: string | null = null;
  store.handles.set(handle, options.name ?? `memory-${store.handles.size + 1}`);

  const lastIndex = (): number => store.firstIndex + store.entries.length - 1;
  const refuseClosed = (): void => {
    if (closed) throw new LogError("closed", "the log is closed");
  };

  const write = async (leadership: Leadership, entries: readonly StoredEntry[]): Promise<void> => {
    const check = (): void =>
      checkAppend(leadership, entries, {
        closed,
        leads: store.election.holds(leadership),
        lastIndex: lastIndex(),
        maxEntryBytes,
      });
    check();
    try {
      await options.faults?.beforeAppend?.(entries);
      check(); // the leadership may have ended while the fault held us up
      for (const entry of entries) {
        // A copy, as a disk would keep: the author may use its buffer again.
        store.entries.push({ index: entry.index, term: entry.term, bytes: Uint8Array.from(entry.bytes) });
        store.bytes += entry.bytes.byteLength;
      }
      store.bell.ring();
      await options.faults?.afterAppend?.(entries);
      unwritable = null;
    } catch (cause) {
      if (cause instanceof LogError && (cause.code === "storage_full" || cause.code === "unavailable")) {
        unwritable = cause.message;
      }
      throw cause;
    }
  };

  const followed: Followed = {
    bell: store.bell,
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
      return lastIndex() as LogIndex;
    },
    async saveSnapshot(at, lines) {
      refuseClosed();
      if (at.index > lastIndex()) {
        throw new LogError("wrong_index", `a snapshot at ${at.index}, but the log ends at ${lastIndex()}`);
      }
      const kept = [...lines];
      const bytes = kept.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
      const info: SnapshotInfo = { index: at.index, term: at.term, bytes, takenAtMs: nowMs() };
      store.snapshots = [...store.snapshots.filter((other) => other.info.index !== at.index), stored(info, kept)]
        .sort((a, b) => a.info.index - b.info.index)
        .slice(-keepSnapshots);
      return info;
    },
    async loadSnapshot() {
      refuseClosed();
      const newest = store.snapshots.findLast((snapshot) => !snapshot.corrupt);
      return newest === undefined ? null : { info: newest.info, lines: inOrder(newest.lines) };
    },
    async truncate(through) {
      refuseClosed();
      const oldest = store.snapshots.find((snapshot) => !snapshot.corrupt);
      const upTo = Math.min(through, oldest?.info.index ?? 0);
      const dropped = store.entries.splice(0, Math.max(0, upTo - store.firstIndex + 1));
      store.firstIndex += dropped.length;
      for (const entry of dropped) store.bytes -= entry.bytes.byteLength;
    },
    status: () => ({
      engine: "memory",
      term: store.term,
      firstIndex: store.firstIndex as LogIndex,
      lastIndex: lastIndex() as LogIndex,
      snapshot: store.snapshots.at(-1)?.info ?? null,
      bytes: store.bytes,
      leader: store.election.leader()?.candidate ?? null,
      unwritable: closed ? "the log is closed" : unwritable,
    }),
    present: () => [],
    async members() {
      refuseClosed();
      const leader = store.election.leader()?.owner ?? null;
      return [...store.handles].map(([owner, id]) => ({
        id,
        name: "memory",
        leader: owner === leader,
        healthy: true,
      }));
    },
    async close() {
      if (closed) return;
      closed = true;
      store.election.withdraw(handle);
      store.handles.delete(handle);
      store.bell.ring();
      await store.writes.idle();
    },
  };
}

const stored = (info: SnapshotInfo, lines: readonly string[]): StoredSnapshot => ({ info, lines, corrupt: false });

async function* inOrder(lines: readonly string[]): AsyncGenerator<string, void, undefined> {
  yield* lines;
}
