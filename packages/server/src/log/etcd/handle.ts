// One handle on the log in etcd. Appends are fenced by the leadership; readers wait while etcd does not answer.

import { setTimeout as sleep } from "node:timers/promises";
import { type LogIndex, logIndex } from "@lattice/core";
import { checkAppend } from "../contract/check-append.ts";
import { follow } from "../contract/follow.ts";
import {
  type Leadership,
  LogError,
  type LogMember,
  type LogServer,
  type LogStatus,
  type ReplicatedLog,
  type SnapshotInfo,
  type StoredEntry,
} from "../contract/replicated-log.ts";
import { createSerialQueue } from "../contract/serial-queue.ts";
import type { SharedLog } from "../contract/shared-log.ts";
import { type AppendResult, appendToEtcd } from "./append.ts";
import { asLogError } from "./as-log-error.ts";
import { campaign } from "./campaign.ts";
import type { EtcdClient } from "./client/client.ts";
import { createCluster, type EtcdCluster } from "./cluster.ts";
import { createFetcher, type Fetcher } from "./fetch.ts";
import type { Keys } from "./keys.ts";
import { type EtcdLeadership, takeLeadership } from "./leadership.ts";
import { createMaintenance, type Maintenance } from "./maintenance.ts";
import { listMembers } from "./members.ts";
import { asInfo, headOf, type LogMetadata } from "./metadata.ts";
import type { EtcdLogOptions } from "./options.ts";
import { keepPromoting } from "./promote.ts";
import type { Registry } from "./registry.ts";
import { createShared } from "./shared.ts";
import { Snapshots } from "./snapshots.ts";
import type { StoreGuard } from "./store-guard.ts";
import { truncateInEtcd } from "./truncate.ts";

const MAX_ENTRY_BYTES = 4 * 1024 * 1024;
/** All entries of one append: readers hold its parts in memory. */
const MAX_APPEND_BYTES = 32 * 1024 * 1024;
const KEEP_SNAPSHOTS = 5;
/** The shortest that etcd grants with its usual timing. Replacing a lost leader takes about as long. */
const LEASE_SECONDS = 2;
/** After this the outcome of an append is unknown. Long enough for etcd to elect another leader. */
const APPEND_TIMEOUT_MS = 10_000;
const RETRY_MS = 200;
const CHECK_INTERVAL_MS = 1_000;
/** Checks between two compactions when nothing is truncated: every append leaves an old revision. */
const CHECKS_PER_COMPACTION = 300;
const CHECKS_PER_SIZE = 10;

interface OpenedLog {
  readonly client: EtcdClient;
  readonly keys: Keys;
  readonly metadata: LogMetadata;
  readonly guard: StoreGuard;
  readonly registry: Registry;
  readonly closing: AbortController;
  readonly tailEnded: Promise<void>;
  /** Why the watch is broken; `null` while it works. */
  connection(): string | null;
}

export class EtcdLog implements ReplicatedLog {
  readonly maxEntryBytes: number;
  /** The members of etcd itself: listing and changing them. */
  readonly cluster: EtcdCluster;
  readonly shared: SharedLog;
  readonly #opened: OpenedLog;
  readonly #options: EtcdLogOptions;
  readonly #writes = createSerialQueue();
  readonly #fetcher: Fetcher;
  readonly #maintenance: Maintenance;
  readonly #snapshots: Snapshots;
  readonly #campaigns = new Set<Promise<unknown>>();
  #leadership: EtcdLeadership | null = null;
  #unwritable: string | null = null;
  #bytes = 0;
  #maintaining: Promise<unknown> = Promise.resolve();
  #shutting: Promise<void> | null = null;

  private constructor(opened: OpenedLog, options: EtcdLogOptions) {
    const { client, keys, metadata, registry } = opened;
    this.#opened = opened;
    this.#options = options;
    this.maxEntryBytes = options.maxEntryBytes ?? MAX_ENTRY_BYTES;
    this.#fetcher = createFetcher(client, keys);
    this.#maintenance = createMaintenance(client, {
      ownMember: options.ownMember ?? false,
      ...(options.compactGapMs === undefined ? {} : { compactGapMs: options.compactGapMs }),
    });
    this.#snapshots = new Snapshots({
      client,
      keys,
      metadata,
      lease: registry.lease,
      keep: options.keepSnapshots ?? KEEP_SNAPSHOTS,
      nowMs: options.nowMs ?? Date.now,
      onWarning: options.onWarning ?? (() => undefined),
    });
    this.cluster = createCluster(client, options.tls ?? null);
    this.shared = createShared({
      client,
      keys,
      metadata,
      cluster: this.cluster,
      ownEndpoint: options.ownMember === true ? (options.endpoints[0] ?? null) : null,
      securedPeers: options.securedPeers ?? (options.tls ?? null) !== null,
    });
  }

  static async serve(opened: OpenedLog, options: EtcdLogOptions): Promise<EtcdLog> {
    const log = new EtcdLog(opened, options);
    // Not worth failing for: the next check corrects it.
    log.#bytes = (await log.#maintenance.run().catch(() => ({ bytes: 0 }))).bytes;
    const { client, closing } = opened;
    const promoting = options.ownMember === true ? keepPromoting(client, closing.signal) : null;
    log.#maintaining = Promise.all([log.#maintain(), promoting]);
    return log;
  }

  async campaign(candidate: string, signal: AbortSignal): Promise<Leadership> {
    this.#refuseClosed();
    signal.throwIfAborted();
    const { client, keys, metadata, guard, closing } = this.#opened;
    const { name: server, leaseSeconds = LEASE_SECONDS, untilGone = null } = this.#options;
    const stop = AbortSignal.any([signal, closing.signal]);
    const place = { client, keys, metadata, guard };
    const campaigning = campaign({ ...place, candidate, server, leaseSeconds, untilGone, signal: stop });
    this.#campaigns.add(campaigning);
    const won = await campaigning.finally(() => this.#campaigns.delete(campaigning));
    const taken = takeLeadership(won, metadata);
    if (stop.aborted) {
      await taken.end();
      throw stop.reason;
    }
    this.#leadership = taken;
    return taken.leadership;
  }

  append(leadership: Leadership, entries: readonly StoredEntry[]): Promise<void> {
    return this.#writes(() => this.#write(leadership, entries));
  }

  read(from: LogIndex, signal: AbortSignal): AsyncIterable<readonly StoredEntry[]> {
    const { metadata } = this.#opened;
    return follow(
      {
        changes: metadata.changes,
        closed: () => {
          this.#refuseClosed();
          return false;
        },
        firstIndex: () => metadata.firstIndex(),
        lastIndex: () => metadata.lastIndex(),
        fetch: (index) => this.#fetch(index, signal),
      },
      from,
      signal,
    );
  }

  async head(): Promise<LogIndex> {
    this.#refuseClosed();
    const { client, keys, metadata, guard, closing } = this.#opened;
    try {
      const known = metadata.lastIndex();
      const kv = (await client.range({ key: keys.head }, closing.signal)).kvs[0];
      guard.endsAt(headOf(kv), known);
      if (kv !== undefined) metadata.put(kv);
      return logIndex(metadata.lastIndex());
    } catch (cause) {
      this.#refuseClosed();
      throw asLogError(cause, "reading the end of the log");
    }
  }

  async saveSnapshot(at: Parameters<ReplicatedLog["saveSnapshot"]>[0], lines: Iterable<string>): Promise<SnapshotInfo> {
    this.#refuseClosed();
    const { metadata } = this.#opened;
    if (at.index > metadata.lastIndex() && at.index > (await this.head())) {
      throw new LogError("wrong_index", `a snapshot at ${at.index}, but the log ends at ${metadata.lastIndex()}`);
    }
    return this.#snapshots.save(at, lines);
  }

  async loadSnapshot(): ReturnType<ReplicatedLog["loadSnapshot"]> {
    this.#refuseClosed();
    return this.#snapshots.load();
  }

  async truncate(through: LogIndex): Promise<void> {
    this.#refuseClosed();
    const { client, keys, metadata } = this.#opened;
    try {
      const upTo = Math.min(through, await this.#snapshots.oldestIndex());
      if (upTo < metadata.firstIndex()) return;
      metadata.cutTo(await truncateInEtcd(client, keys, upTo));
      await this.#maintenance.compact(await this.#currentRevision());
      this.#bytes = (await this.#maintenance.run()).bytes;
    } catch (cause) {
      throw asLogError(cause, `dropping the entries up to ${through}`);
    }
  }

  status(): LogStatus {
    const { metadata, guard, connection } = this.#opened;
    const newest = metadata.snapshots()[0];
    return {
      engine: "etcd",
      term: metadata.term(),
      firstIndex: logIndex(metadata.firstIndex()),
      lastIndex: logIndex(metadata.lastIndex()),
      snapshot: newest === undefined ? null : asInfo(newest),
      bytes: this.#bytes,
      leader: metadata.leader()?.candidate ?? null,
      unwritable: this.#isClosed ? "the log is closed" : (guard.lost()?.message ?? this.#unwritable ?? connection()),
    };
  }

  present(): readonly LogServer[] {
    return [...this.#opened.metadata.servers()].map(([id, name]) => ({ id, name }));
  }

  async members(): Promise<readonly LogMember[]> {
    this.#refuseClosed();
    return listMembers(this.#opened.client, this.#opened.keys, this.#options.peers ?? []);
  }

  close(): Promise<void> {
    this.#shutting ??= this.#shut();
    return this.#shutting;
  }

  get #isClosed(): boolean {
    return this.#opened.closing.signal.aborted;
  }

  /** Also when etcd holds another log. */
  #refuseClosed(): void {
    if (this.#isClosed) throw closedError();
    const lost = this.#opened.guard.lost();
    if (lost !== null) throw lost;
  }

  async #currentRevision(): Promise<bigint> {
    const { client, keys } = this.#opened;
    return (await client.range({ key: keys.head, countOnly: true })).header?.revision ?? 0n;
  }

  async #write(leadership: Leadership, entries: readonly StoredEntry[]): Promise<void> {
    const { client, keys, metadata, guard } = this.#opened;
    const lost = guard.lost();
    if (lost !== null) throw lost;
    const current = this.#leadership;
    const leads = current !== null && current.leadership === leadership && current.holds();
    const { maxEntryBytes } = this;
    const lastIndex = metadata.lastIndex();
    checkAppend(leadership, entries, { closed: this.#isClosed, leads, lastIndex, maxEntryBytes });
    const total = entries.reduce((sum, entry) => sum + entry.bytes.byteLength, 0);
    if (total > MAX_APPEND_BYTES)
      throw new LogError("too_large", `${total} bytes at once, at most ${MAX_APPEND_BYTES}`);
    if (entries.length === 0 || current === null) return;
    const { createRevision } = current;
    const timeoutMs = this.#options.appendTimeoutMs ?? APPEND_TIMEOUT_MS;
    const result = await appendToEtcd({ client, keys, createRevision, lastIndex, entries, timeoutMs }).catch(
      (cause: unknown) => {
        throw asLogError(cause, `appending entry ${entries[0]?.index}`);
      },
    );
    this.#settle(result, current, entries, lastIndex);
  }

  /** `after`: the end of the log that the append was to continue. */
  #settle(result: AppendResult, current: EtcdLeadership, entries: readonly StoredEntry[], after: number): void {
    const { metadata, guard } = this.#opened;
    switch (result.kind) {
      case "durable":
        this.#unwritable = null;
        metadata.appended(entries);
        return;
      case "lost_leadership":
        void current.end();
        throw new LogError("lost_leadership", `the leadership of term ${current.leadership.term} is over`);
      case "wrong_index":
        guard.endsAt(result.lastIndex, after);
        metadata.endsAt(result.lastIndex);
        throw new LogError("wrong_index", `entry ${entries[0]?.index} where ${result.lastIndex + 1} is next`);
      case "unavailable":
      case "no_space":
        this.#unwritable = result.reason;
        throw new LogError(result.kind === "no_space" ? "storage_full" : "unavailable", result.reason);
    }
  }

  /** Retries while etcd does not answer: the requested entries exist. */
  async #fetch(from: LogIndex, signal: AbortSignal): Promise<readonly StoredEntry[]> {
    for (;;) {
      const recent = this.#opened.metadata.recent(from);
      if (recent !== null) return recent;
      try {
        return await this.#fetcher.fetch(from, signal);
      } catch (cause) {
        if (signal.aborted) return [];
        this.#refuseClosed();
        if (!(cause instanceof LogError) || cause.code !== "unavailable") throw cause;
        await sleep(RETRY_MS);
      }
    }
  }

  /** Measures the database and compacts it, until the log is closed. */
  async #maintain(): Promise<void> {
    const { signal } = this.#opened.closing;
    for (let n = 1; !this.#isClosed; n += 1) {
      await sleep(CHECK_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
      if (!this.#isClosed) await this.#check(n).catch(() => undefined);
    }
  }

  async #check(n: number): Promise<void> {
    if (this.#unwritable !== null || n % CHECKS_PER_SIZE === 0) {
      const size = await this.#maintenance.run();
      this.#bytes = size.bytes;
      await this.head();
      if (!size.full) this.#unwritable = null;
    }
    if (n % CHECKS_PER_COMPACTION === 0 && this.#leadership?.holds() === true)
      await this.#maintenance.compact(await this.#currentRevision());
  }

  async #shut(): Promise<void> {
    const { client, metadata, registry, closing, tailEnded } = this.#opened;
    closing.abort(closedError());
    metadata.changes.notify();
    await this.#writes.idle();
    await Promise.allSettled(this.#campaigns);
    await Promise.all([this.#leadership?.end(), registry.close(), tailEnded, this.#maintaining]);
    client.close();
  }
}

const closedError = (): LogError => new LogError("closed", "the log is closed");
