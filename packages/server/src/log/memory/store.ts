// What several handles of a memory log share: the entries, the snapshots and the election. It
// stands for the disks of a whole cluster and outlives every handle.

import type { Term } from "@lattice/core";
import { type Bell, createBell } from "../bell.ts";
import { createElection, type Election } from "../election.ts";
import { createInTurn, type InTurn } from "../in-turn.ts";
import type { SnapshotInfo, StoredEntry } from "../replicated-log.ts";

export interface StoredSnapshot {
  readonly info: SnapshotInfo;
  readonly lines: readonly string[];
  /** Set by tests: it no longer verifies. */
  corrupt: boolean;
}

export interface MemoryStore {
  readonly entries: StoredEntry[];
  /** Index of the first entry kept. */
  firstIndex: number;
  bytes: number;
  term: Term;
  /** Oldest first. */
  snapshots: StoredSnapshot[];
  readonly election: Election;
  readonly writes: InTurn;
  readonly bell: Bell;
  /** Names of the open handles. */
  readonly handles: Map<object, string>;
}

export function createMemoryStore(): MemoryStore {
  const writes = createInTurn();
  const store: MemoryStore = {
    entries: [],
    firstIndex: 1,
    bytes: 0,
    term: 0 as Term,
    snapshots: [],
    writes,
    bell: createBell(),
    handles: new Map(),
    election: createElection({
      settled: () => writes.idle(),
      nextTerm: async () => {
        store.term = (store.term + 1) as Term;
        return store.term;
      },
    }),
  };
  return store;
}
