// The part of a memory log that several handles share: the entries, the snapshots and the election. It represents the disks of a
// whole cluster and outlives every handle.

import { type LogIndex, type Term, term } from "@lattice/core";
import { createElection, type Election } from "../contract/election.ts";
import { createNotifier, type Notifier } from "../contract/notifier.ts";
import { LogError, type SnapshotInfo, type StoredEntry } from "../contract/replicated-log.ts";
import { createSerialQueue, type SerialQueue } from "../contract/serial-queue.ts";

interface StoredSnapshot {
  readonly info: SnapshotInfo;
  readonly lines: readonly string[];
  /** Set by tests: the snapshot no longer verifies. */
  corrupt: boolean;
}

export interface MemoryStore {
  readonly entries: StoredEntry[];
  /** Index of the oldest entry. */
  firstIndex: number;
  bytes: number;
  term: Term;
  /** Oldest first. */
  snapshots: StoredSnapshot[];
  readonly election: Election;
  readonly writes: SerialQueue;
  readonly changes: Notifier;
  /** Names of the open handles. */
  readonly handles: Map<object, string>;
}

export function createMemoryStore(): MemoryStore {
  const writes = createSerialQueue();
  const store: MemoryStore = {
    entries: [],
    firstIndex: 1,
    bytes: 0,
    term: term(0),
    snapshots: [],
    writes,
    changes: createNotifier(),
    handles: new Map(),
    election: createElection({
      settled: () => writes.idle(),
      nextTerm: async () => {
        store.term = term(store.term + 1);
        return store.term;
      },
    }),
  };
  return store;
}

export const lastIndexIn = (store: MemoryStore): number => store.firstIndex + store.entries.length - 1;

export function appendTo(store: MemoryStore, entries: readonly StoredEntry[]): void {
  for (const entry of entries) {
    // A copy, as a disk would keep: the author may reuse its buffer.
    store.entries.push({ index: entry.index, term: entry.term, bytes: Uint8Array.from(entry.bytes) });
    store.bytes += entry.bytes.byteLength;
  }
  store.changes.notify();
}

/** Keeps the newest `keep` snapshots, at most one per index. */
export function saveSnapshotIn(
  store: MemoryStore,
  { index, term, takenAtMs, keep }: Pick<SnapshotInfo, "index" | "term" | "takenAtMs"> & { readonly keep: number },
  lines: readonly string[],
): SnapshotInfo {
  const last = lastIndexIn(store);
  if (index > last) throw new LogError("wrong_index", `a snapshot at ${index}, but the log ends at ${last}`);
  const bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
  const info: SnapshotInfo = { index, term, bytes, takenAtMs };
  store.snapshots = [...store.snapshots.filter((other) => other.info.index !== index), { info, lines, corrupt: false }]
    .sort((a, b) => a.info.index - b.info.index)
    .slice(-keep);
  return info;
}

/** Drops entries up to `through`, never beyond the oldest snapshot. */
export function truncateIn(store: MemoryStore, through: LogIndex): void {
  const oldest = store.snapshots.find((snapshot) => !snapshot.corrupt);
  const upTo = Math.min(through, oldest?.info.index ?? 0);
  const dropped = store.entries.splice(0, Math.max(0, upTo - store.firstIndex + 1));
  store.firstIndex += dropped.length;
  for (const entry of dropped) store.bytes -= entry.bytes.byteLength;
}
