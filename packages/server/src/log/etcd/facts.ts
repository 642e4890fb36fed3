// What this handle knows of the log in etcd, kept up to date by the watch and by its own writes, so
// that status is answered without asking and readers at the end need no round trip. Each fact carries
// the revision it was learnt at: news that is older than what is known changes nothing.

import type { LogIndex, Term } from "@lattice/core";
import type { KeyValue } from "../../../gen/etcdserverpb/rpc_pb.ts";
import { type Bell, createBell } from "../bell.ts";
import { createRecent } from "../embedded/recent.ts";
import type { SnapshotInfo, StoredEntry } from "../replicated-log.ts";
import type { Keys } from "./keys.ts";
import { decodeRecord, lastIndexOf } from "./record.ts";

export interface LeaderFact {
  readonly candidate: string;
  /** Name of the handle that leads. */
  readonly server: string;
  readonly term: number;
  readonly createRevision: bigint;
  readonly lease: bigint;
}

export interface SnapshotDescriptor extends SnapshotInfo {
  readonly id: string;
  readonly pieces: number;
  readonly sha256: string;
}

export interface Facts {
  /** Rings at every change. */
  readonly bell: Bell;
  firstIndex(): number;
  lastIndex(): number;
  term(): Term;
  leader(): LeaderFact | null;
  /** Servers that are there, by name, with their addresses. */
  servers(): ReadonlyMap<string, string>;
  /** Servers that belong to the cluster, by name, and where their members speak. */
  members(): ReadonlyMap<string, string>;
  /** Newest first. */
  snapshots(): readonly SnapshotDescriptor[];
  /** Ids of snapshots being written by servers that are there. */
  saving(): ReadonlySet<string>;
  /** Entries from this index on, when they are among the newest; else null. */
  recent(index: number): readonly StoredEntry[] | null;
  /** All of `meta/`, read at this revision. */
  replace(kvs: readonly KeyValue[], revision: bigint): void;
  put(kv: KeyValue): void;
  removed(key: Uint8Array, revision: bigint): void;
  /** Our own append. */
  appended(entries: readonly StoredEntry[]): void;
  /** Our own truncation, or a later end of the log than was known. */
  cutTo(firstIndex: number): void;
  endsAt(lastIndex: number): void;
}

export function createFacts(keys: Keys, onWarning: (text: string) => void): Facts {
  const bell = createBell();
  const servers = new Map<string, string>();
  const members = new Map<string, string>();
  const snapshots = new Map<string, SnapshotDescriptor>();
  const saving = new Set<string>();
  let firstIndex = 1;
  let lastIndex = 0;
  let term = 0;
  let leader: LeaderFact | null = null;
  let leaderAt = 0n;
  let recent = createRecent();
  let nextRecent = 0;

  /** The newest entries are kept without gaps: behind one, keeping begins anew. */
  const remember = (entries: readonly StoredEntry[]): void => {
    const fresh = entries.filter((entry) => entry.index >= nextRecent);
    const from = fresh[0]?.index;
    if (from === undefined) return;
    if (from !== nextRecent) recent = createRecent();
    recent.add(fresh);
    nextRecent = from + fresh.length;
  };

  const learnLeader = (next: LeaderFact | null, revision: bigint): void => {
    if (revision < leaderAt) return;
    leader = next;
    leaderAt = revision;
    if (next !== null) term = Math.max(term, next.term);
  };

  const learnEntries = (index: number, value: Uint8Array): void => {
    const record = decodeRecord(index, value);
    if (record.kind === "inline") remember(record.entries);
    lastIndex = Math.max(lastIndex, lastIndexOf(index, record));
  };

  const learn = (kv: KeyValue): void => {
    const key = keys.parse(kv.key);
    const text = (): string => Buffer.from(kv.value).toString("utf8");
    switch (key.kind) {
      case "log":
        learnEntries(key.index, kv.value);
        return;
      case "head":
        lastIndex = Math.max(lastIndex, Number(text()));
        return;
      case "first":
        firstIndex = Math.max(firstIndex, Number(text()));
        return;
      case "term":
        term = Math.max(term, Number(text()));
        return;
      case "leader":
        learnLeader(parseLeader(text(), kv), kv.modRevision);
        return;
      case "member":
        members.set(key.name, text());
        return;
      case "server":
        servers.set(key.name, text());
        return;
      case "saving":
        saving.add(key.id);
        return;
      case "snapshot":
        snapshots.set(key.name, JSON.parse(text()) as SnapshotDescriptor);
        return;
      case "snapshotData":
      case "other":
        return;
    }
  };

  const learnOrWarn = (kv: KeyValue): void => {
    try {
      learn(kv);
    } catch (cause) {
      const key = Buffer.from(kv.key).toString("utf8");
      onWarning(`${key} in etcd is not usable: ${cause instanceof Error ? cause.message : String(cause)}`);
    }
  };

  return {
    bell,
    firstIndex: () => firstIndex,
    lastIndex: () => lastIndex,
    term: () => term as Term,
    leader: () => leader,
    servers: () => servers,
    members: () => members,
    snapshots: () => [...snapshots.values()].sort((a, b) => b.index - a.index || b.takenAtMs - a.takenAtMs),
    saving: () => saving,
    recent(index) {
      const found = recent.from(index);
      return found === null || found.length === 0 ? null : found;
    },
    replace(kvs, revision) {
      servers.clear();
      members.clear();
      snapshots.clear();
      saving.clear();
      if (!kvs.some((kv) => keys.leader.equals(kv.key))) learnLeader(null, revision);
      for (const kv of kvs) learnOrWarn(kv);
      bell.ring();
    },
    put(kv) {
      learnOrWarn(kv);
      bell.ring();
    },
    removed(bytes, revision) {
      const key = keys.parse(bytes);
      if (key.kind === "leader") learnLeader(null, revision);
      if (key.kind === "server") servers.delete(key.name);
      if (key.kind === "member") members.delete(key.name);
      if (key.kind === "saving") saving.delete(key.id);
      if (key.kind === "snapshot") snapshots.delete(key.name);
      bell.ring();
    },
    appended(entries) {
      remember(entries);
      lastIndex = Math.max(lastIndex, entries.at(-1)?.index ?? 0);
      bell.ring();
    },
    cutTo(first) {
      firstIndex = Math.max(firstIndex, first);
      bell.ring();
    },
    endsAt(last) {
      lastIndex = Math.max(lastIndex, last);
      bell.ring();
    },
  };
}

export const leaderValue = (fact: Pick<LeaderFact, "candidate" | "server" | "term">): Buffer =>
  Buffer.from(JSON.stringify({ candidate: fact.candidate, server: fact.server, term: fact.term }));

function parseLeader(text: string, kv: KeyValue): LeaderFact {
  const { candidate, server, term } = JSON.parse(text) as Record<string, unknown>;
  if (typeof candidate !== "string" || typeof server !== "string" || typeof term !== "number") {
    throw new Error("it does not name a leader");
  }
  return { candidate, server, term, createRevision: kv.createRevision, lease: kv.lease };
}

export const asInfo = ({ index, term, bytes, takenAtMs }: SnapshotDescriptor): SnapshotInfo => ({
  index: index as LogIndex,
  term: term as Term,
  bytes,
  takenAtMs,
});
