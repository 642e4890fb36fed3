// A local copy of the log's metadata in etcd, maintained by the watch and by this handle's own writes, so that status needs no call
// and readers at the end need no round trip. Every value is monotonic or carries its revision: older updates change nothing.

import { logIndex, type Term, term } from "@lattice/core";
import type { KeyValue } from "../../../gen/etcdserverpb/rpc_pb.ts";
import { createNotifier, type Notifier } from "../contract/notifier.ts";
import type { SnapshotInfo, StoredEntry } from "../contract/replicated-log.ts";
import { createRecent } from "../embedded/recent.ts";
import type { Keys } from "./keys.ts";
import { decodeRecord, lastIndexOf } from "./record.ts";

export interface LeaderRecord {
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

/** Every change notifies the waiters of `changes`. */
export class LogMetadata {
  readonly changes: Notifier = createNotifier();
  readonly #keys: Keys;
  readonly #onWarning: (text: string) => void;
  readonly #servers = new Map<string, string>();
  readonly #members = new Map<string, string>();
  readonly #snapshots = new Map<string, SnapshotDescriptor>();
  readonly #saving = new Set<string>();
  #firstIndex = 1;
  #lastIndex = 0;
  #term = 0;
  #leader: LeaderRecord | null = null;
  #leaderAt = 0n;
  #recent = createRecent();
  #nextRecent = 0;

  constructor(keys: Keys, onWarning: (text: string) => void) {
    this.#keys = keys;
    this.#onWarning = onWarning;
  }

  firstIndex(): number {
    return this.#firstIndex;
  }

  lastIndex(): number {
    return this.#lastIndex;
  }

  term(): Term {
    return term(this.#term);
  }

  leader(): LeaderRecord | null {
    return this.#leader;
  }

  /** Connected servers by name, with their addresses. */
  servers(): ReadonlyMap<string, string> {
    return this.#servers;
  }

  /** Servers of the cluster by name, with the addresses of their etcd members. */
  members(): ReadonlyMap<string, string> {
    return this.#members;
  }

  /** Newest first. */
  snapshots(): readonly SnapshotDescriptor[] {
    return [...this.#snapshots.values()].sort((a, b) => b.index - a.index || b.takenAtMs - a.takenAtMs);
  }

  /** Ids of snapshots that connected servers are writing. */
  saving(): ReadonlySet<string> {
    return this.#saving;
  }

  /** Entries from this index on when they are among the newest; else `null`. */
  recent(index: number): readonly StoredEntry[] | null {
    const found = this.#recent.from(index);
    return found === null || found.length === 0 ? null : found;
  }

  /** Takes all of `meta/`, read at this revision. */
  replace(kvs: readonly KeyValue[], revision: bigint): void {
    this.#servers.clear();
    this.#members.clear();
    this.#snapshots.clear();
    this.#saving.clear();
    if (!kvs.some((kv) => this.#keys.leader.equals(kv.key))) this.#learnLeader(null, revision);
    for (const kv of kvs) this.#learnOrWarn(kv);
    this.changes.notify();
  }

  put(kv: KeyValue): void {
    this.#learnOrWarn(kv);
    this.changes.notify();
  }

  removed(bytes: Uint8Array, revision: bigint): void {
    const key = this.#keys.parse(bytes);
    if (key.kind === "leader") this.#learnLeader(null, revision);
    if (key.kind === "server") this.#servers.delete(key.name);
    if (key.kind === "member") this.#members.delete(key.name);
    if (key.kind === "saving") this.#saving.delete(key.id);
    if (key.kind === "snapshot") this.#snapshots.delete(key.name);
    this.changes.notify();
  }

  /** Takes an append of this handle. */
  appended(entries: readonly StoredEntry[]): void {
    this.#remember(entries);
    this.endsAt(entries.at(-1)?.index ?? 0);
  }

  /** Takes a truncation by this handle. */
  cutTo(firstIndex: number): void {
    this.#firstIndex = Math.max(this.#firstIndex, firstIndex);
    this.changes.notify();
  }

  /** Takes a later end of the log than was known. */
  endsAt(lastIndex: number): void {
    this.#lastIndex = Math.max(this.#lastIndex, lastIndex);
    this.changes.notify();
  }

  /** Keeps the newest entries without gaps: after a gap, only the entries behind it. */
  #remember(entries: readonly StoredEntry[]): void {
    const fresh = entries.filter((entry) => entry.index >= this.#nextRecent);
    const from = fresh[0]?.index;
    if (from === undefined) return;
    if (from !== this.#nextRecent) this.#recent = createRecent();
    this.#recent.add(fresh);
    this.#nextRecent = from + fresh.length;
  }

  #learnLeader(next: LeaderRecord | null, revision: bigint): void {
    if (revision < this.#leaderAt) return;
    this.#leader = next;
    this.#leaderAt = revision;
    if (next !== null) this.#term = Math.max(this.#term, next.term);
  }

  #learnEntries(index: number, value: Uint8Array): void {
    const record = decodeRecord(index, value);
    if (record.kind === "inline") this.#remember(record.entries);
    this.#lastIndex = Math.max(this.#lastIndex, lastIndexOf(index, record));
  }

  #learnOrWarn(kv: KeyValue): void {
    try {
      this.#learn(kv);
    } catch (cause) {
      const key = Buffer.from(kv.key).toString("utf8");
      this.#onWarning(`${key} in etcd is not usable: ${cause instanceof Error ? cause.message : String(cause)}`);
    }
  }

  #learn(kv: KeyValue): void {
    const key = this.#keys.parse(kv.key);
    const text = (): string => Buffer.from(kv.value).toString("utf8");
    switch (key.kind) {
      case "log":
        this.#learnEntries(key.index, kv.value);
        return;
      case "head":
        this.#lastIndex = Math.max(this.#lastIndex, Number(text()));
        return;
      case "first":
        this.#firstIndex = Math.max(this.#firstIndex, Number(text()));
        return;
      case "term":
        this.#term = Math.max(this.#term, Number(text()));
        return;
      case "leader":
        this.#learnLeader(parseLeader(text(), kv), kv.modRevision);
        return;
      case "member":
        this.#members.set(key.name, text());
        return;
      case "server":
        this.#servers.set(key.name, text());
        return;
      case "saving":
        this.#saving.add(key.id);
        return;
      case "snapshot":
        this.#snapshots.set(key.name, JSON.parse(text()) as SnapshotDescriptor);
        return;
      case "snapshotData":
      case "other":
        return;
    }
  }
}

export const leaderValue = (fact: Pick<LeaderRecord, "candidate" | "server" | "term">): Buffer =>
  Buffer.from(JSON.stringify({ candidate: fact.candidate, server: fact.server, term: fact.term }));

function parseLeader(text: string, kv: KeyValue): LeaderRecord {
  const { candidate, server, term: inTerm } = JSON.parse(text) as Record<string, unknown>;
  if (typeof candidate !== "string" || typeof server !== "string" || typeof inTerm !== "number") {
    throw new Error("it does not name a leader");
  }
  return { candidate, server, term: inTerm, createRevision: kv.createRevision, lease: kv.lease };
}

/** Returns the end of the log from its key; 0 without one. */
export const headOf = (kv: Pick<KeyValue, "value"> | undefined): number =>
  kv === undefined ? 0 : Number(Buffer.from(kv.value).toString("utf8"));

export const asInfo = ({ index, term: inTerm, bytes, takenAtMs }: SnapshotDescriptor): SnapshotInfo => ({
  index: logIndex(index),
  term: term(inTerm),
  bytes,
  takenAtMs,
});
