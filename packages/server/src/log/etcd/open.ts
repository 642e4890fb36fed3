// The log in etcd: for three or five servers that share one log. Any handle reads and takes
// snapshots; one of them leads, and only its appends commit. Every member of etcd may fail, one at a
// time; while there is no majority nothing is written and readers wait.

import { setTimeout as sleep } from "node:timers/promises";
import type { LogIndex } from "@lattice/core";
import { checkAppend } from "../check-append.ts";
import { follow } from "../follow.ts";
import { createInTurn } from "../in-turn.ts";
import {
  type Leadership,
  LogError,
  type LogMember,
  type LogServer,
  type ReplicatedLog,
  type StoredEntry,
} from "../replicated-log.ts";
import { type AppendResult, appendToEtcd } from "./append.ts";
import { asLogError } from "./as-log-error.ts";
import { campaign } from "./campaign.ts";
import type { EtcdTls } from "./client/channel.ts";
import { createEtcdClient, type EtcdClient } from "./client/client.ts";
import { createCluster, type EtcdCluster } from "./cluster.ts";
import { asInfo, createFacts, type Facts } from "./facts.ts";
import { createFetcher } from "./fetch.ts";
import type { UntilGone } from "./hasten.ts";
import { type Keys, keysUnder } from "./keys.ts";
import { listMembers } from "./members.ts";
import { type Registry, startRegistry } from "./registry.ts";
import { beginReign, type Reign } from "./reign.ts";
import { createShared } from "./shared.ts";
import { createSnapshots } from "./snapshots.ts";
import { startTail } from "./tail.ts";
import { truncateInEtcd } from "./truncate.ts";
import { createUpkeep } from "./upkeep.ts";

const MAX_ENTRY_BYTES = 4 * 1024 * 1024;
/** All entries of one append: its parts are held in memory by whoever reads them. */
const MAX_APPEND_BYTES = 32 * 1024 * 1024;
const KEEP_SNAPSHOTS = 5;
/** The shortest that etcd gives with its usual timing. Losing a leader takes about as long. */
const LEASE_SECONDS = 2;
/** After this an append is given up in doubt. Long enough for etcd to elect another leader. */
const APPEND_TIMEOUT_MS = 10_000;
const OPEN_TIMEOUT_MS = 30_000;
const RETRY_MS = 200;
const LOOK_EVERY_MS = 1_000;
/** Looks between two compactions when nothing is truncated: every append leaves an old revision. */
const LOOKS_PER_COMPACTION = 300;
const LOOKS_PER_SIZE = 10;

export interface EtcdLogOptions {
  readonly endpoints: readonly string[];
  readonly tls?: EtcdTls | null;
  /** One per cluster, for example "/lattice/main". */
  readonly prefix: string;
  /** This server among those of the cluster. */
  readonly name: string;
  /** What this server says of itself to the others; listed with it. */
  readonly announcement?: string;
  /** Servers that ought to be there: listed as unhealthy when they are not. */
  readonly peers?: readonly LogServer[];
  readonly leaseSeconds?: number;
  /** Says when a leader is surely gone; without it, one that died leads until its lease ends. */
  readonly untilGone?: UntilGone;
  readonly maxEntryBytes?: number;
  readonly keepSnapshots?: number;
  readonly appendTimeoutMs?: number;
  readonly openTimeoutMs?: number;
  readonly compactGapMs?: number;
  /** The first endpoint is a member that serves this server alone, which may defragment it. */
  readonly ownMember?: boolean;
  /** Where that member speaks with the others, host:port. */
  readonly peer?: string | null;
  readonly nowMs?: () => number;
  readonly onWarning?: (text: string) => void;
}

export interface EtcdLog extends ReplicatedLog {
  /** etcd's own members: who they are, and changing who they are. */
  readonly cluster: EtcdCluster;
}

interface Opened {
  readonly client: EtcdClient;
  readonly keys: Keys;
  readonly facts: Facts;
  readonly registry: Registry;
  readonly closing: AbortController;
  readonly tailEnded: Promise<void>;
  connection(): string | null;
}

export async function openEtcdLog(options: EtcdLogOptions): Promise<EtcdLog> {
  const client = createEtcdClient({ endpoints: options.endpoints, tls: options.tls ?? null });
  const keys = keysUnder(options.prefix);
  const facts = createFacts(keys, options.onWarning ?? (() => undefined));
  const closing = new AbortController();
  let problem: string | null = null;
  const onState = (state: string | null): void => {
    problem = state;
  };
  const until = performance.now() + (options.openTimeoutMs ?? OPEN_TIMEOUT_MS);
  for (;;) {
    let registry: Registry | null = null;
    try {
      const { name, announcement = "", peer = null } = options;
      registry = await startRegistry(client, keys, { name, announcement, peer });
      const tail = await startTail({ client, keys, facts, signal: closing.signal, onState });
      const opened = { client, keys, facts, registry, closing, tailEnded: tail.ended, connection: () => problem };
      return await serve(opened, options);
    } catch (cause) {
      await registry?.close();
      if (performance.now() + RETRY_MS >= until) {
        closing.abort();
        client.close();
        throw asLogError(cause, `opening the log in etcd (${options.endpoints.join(", ")})`);
      }
      await sleep(RETRY_MS);
    }
  }
}

async function serve(opened: Opened, options: EtcdLogOptions): Promise<EtcdLog> {
  const { client, keys, facts, registry, closing } = opened;
  const maxEntryBytes = options.maxEntryBytes ?? MAX_ENTRY_BYTES;
  const onWarning = options.onWarning ?? (() => undefined);
  const writes = createInTurn();
  const fetcher = createFetcher(client, keys);
  const upkeep = createUpkeep(client, {
    ownMember: options.ownMember ?? false,
    ...(options.compactGapMs === undefined ? {} : { compactGapMs: options.compactGapMs }),
  });
  const snapshots = createSnapshots({
    client,
    keys,
    facts,
    keep: options.keepSnapshots ?? KEEP_SNAPSHOTS,
    lease: registry.lease,
    nowMs: options.nowMs ?? Date.now,
    onWarning,
  });
  const campaigns = new Set<Promise<unknown>>();
  let reign: Reign | null = null;
  let unwritable: string | null = null;
  // Not worth failing for: the next look corrects it.
  let bytes = (await upkeep.look().catch(() => ({ bytes: 0 }))).bytes;
  let shutting: Promise<void> | null = null;

  const closed = (): boolean => closing.signal.aborted;
  const refuseClosed = (): void => {
    if (closed()) throw closedError();
  };
  const currentRevision = async (): Promise<bigint> =>
    (await client.range({ key: keys.head, countOnly: true })).header?.revision ?? 0n;

  const head = async (): Promise<LogIndex> => {
    refuseClosed();
    try {
      const kv = (await client.range({ key: keys.head }, closing.signal)).kvs[0];
      if (kv !== undefined) facts.put(kv);
      return facts.lastIndex() as LogIndex;
    } catch (cause) {
      refuseClosed();
      throw asLogError(cause, "asking for the end of the log");
    }
  };

  const write = async (leadership: Leadership, entries: readonly StoredEntry[]): Promise<void> => {
    const current = reign;
    const leads = current !== null && current.leadership === leadership && current.holds();
    checkAppend(leadership, entries, { closed: closed(), leads, lastIndex: facts.lastIndex(), maxEntryBytes });
    const total = entries.reduce((sum, entry) => sum + entry.bytes.byteLength, 0);
    if (total > MAX_APPEND_BYTES)
      throw new LogError("too_large", `${total} bytes at once, at most ${MAX_APPEND_BYTES}`);
    if (entries.length === 0 || current === null) return;
    const result = await appendToEtcd({
      client,
      keys,
      createRevision: current.createRevision,
      lastIndex: facts.lastIndex(),
      entries,
      timeoutMs: options.appendTimeoutMs ?? APPEND_TIMEOUT_MS,
    }).catch((cause: unknown) => {
      throw asLogError(cause, `appending entry ${entries[0]?.index}`);
    });
    settle(result, current, entries);
  };

  const settle = (result: AppendResult, current: Reign, entries: readonly StoredEntry[]): void => {
    switch (result.kind) {
      case "durable":
        unwritable = null;
        facts.appended(entries);
        return;
      case "lost_leadership":
        void current.end();
        throw new LogError("lost_leadership", `the leadership of term ${current.leadership.term} is over`);
      case "wrong_index":
        facts.endsAt(result.lastIndex);
        throw new LogError("wrong_index", `entry ${entries[0]?.index} where ${result.lastIndex + 1} is next`);
      case "unavailable":
      case "no_space":
        unwritable = result.why;
        throw new LogError(result.kind === "no_space" ? "storage_full" : "unavailable", result.why);
    }
  };

  /** Readers wait while etcd does not answer: what they asked for is there. */
  const fetch = async (from: LogIndex, signal: AbortSignal): Promise<readonly StoredEntry[]> => {
    for (;;) {
      const recent = facts.recent(from);
      if (recent !== null) return recent;
      try {
        return await fetcher.fetch(from, signal);
      } catch (cause) {
        if (signal.aborted) return [];
        refuseClosed();
        if (!(cause instanceof LogError) || cause.code !== "unavailable") throw cause;
        await sleep(RETRY_MS);
      }
    }
  };

  const look = async (n: number): Promise<void> => {
    if (unwritable !== null || n % LOOKS_PER_SIZE === 0) {
      const size = await upkeep.look();
      bytes = size.bytes;
      await head();
      if (!size.full) unwritable = null;
    }
    if (n % LOOKS_PER_COMPACTION === 0 && reign?.holds() === true) await upkeep.compact(await currentRevision());
  };
  const looking = (async () => {
    for (let n = 1; !closed(); n += 1) {
      await sleep(LOOK_EVERY_MS, undefined, { signal: closing.signal }).catch(() => undefined);
      if (!closed()) await look(n).catch(() => undefined);
    }
  })();

  const shut = async (): Promise<void> => {
    closing.abort(closedError());
    facts.bell.ring();
    await writes.idle();
    await Promise.allSettled(campaigns);
    await Promise.all([reign?.end(), registry.close(), opened.tailEnded, looking]);
    client.close();
  };

  const cluster = createCluster(client, options.tls ?? null);
  return {
    maxEntryBytes,
    cluster,
    shared: createShared({
      client,
      keys,
      facts,
      cluster,
      ownEndpoint: options.ownMember === true ? (options.endpoints[0] ?? null) : null,
      secured: (options.tls ?? null) !== null,
    }),
    async campaign(candidate, signal) {
      refuseClosed();
      signal.throwIfAborted();
      const stop = AbortSignal.any([signal, closing.signal]);
      const leaseSeconds = options.leaseSeconds ?? LEASE_SECONDS;
      const campaigning = campaign({
        client,
        keys,
        facts,
        candidate,
        server: options.name,
        leaseSeconds,
        untilGone: options.untilGone ?? null,
        signal: stop,
      });
      campaigns.add(campaigning);
      const won = await campaigning.finally(() => campaigns.delete(campaigning));
      const begun = beginReign(won, facts);
      if (stop.aborted) {
        await begun.end();
        throw stop.reason;
      }
      reign = begun;
      return begun.leadership;
    },
    append: (leadership, entries) => writes(() => write(leadership, entries)),
    read: (from, signal) =>
      follow(
        {
          bell: facts.bell,
          closed,
          firstIndex: facts.firstIndex,
          lastIndex: facts.lastIndex,
          fetch: (index) => fetch(index, signal),
        },
        from,
        signal,
      ),
    head,
    async saveSnapshot(at, lines) {
      refuseClosed();
      if (at.index > facts.lastIndex() && at.index > (await head())) {
        throw new LogError("wrong_index", `a snapshot at ${at.index}, but the log ends at ${facts.lastIndex()}`);
      }
      return snapshots.save(at, lines);
    },
    async loadSnapshot() {
      refuseClosed();
      return snapshots.load();
    },
    async truncate(through) {
      refuseClosed();
      try {
        const upTo = Math.min(through, await snapshots.oldestIndex());
        if (upTo < facts.firstIndex()) return;
        facts.cutTo(await truncateInEtcd(client, keys, upTo));
        await upkeep.compact(await currentRevision());
        bytes = (await upkeep.look()).bytes;
      } catch (cause) {
        throw asLogError(cause, `dropping the entries up to ${through}`);
      }
    },
    status: () => {
      const newest = facts.snapshots()[0];
      return {
        engine: "etcd",
        term: facts.term(),
        firstIndex: facts.firstIndex() as LogIndex,
        lastIndex: facts.lastIndex() as LogIndex,
        snapshot: newest === undefined ? null : asInfo(newest),
        bytes,
        leader: facts.leader()?.candidate ?? null,
        unwritable: closed() ? "the log is closed" : (unwritable ?? opened.connection()),
      };
    },
    present: () => [...facts.servers()].map(([id, name]) => ({ id, name })),
    async members(): Promise<readonly LogMember[]> {
      refuseClosed();
      return listMembers(client, keys, options.peers ?? []);
    },
    close() {
      shutting ??= shut();
      return shutting;
    },
  };
}

const closedError = (): LogError => new LogError("closed", "the log is closed");
