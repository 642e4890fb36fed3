// The snapshots of one log, in etcd, where a new member finds them. Pieces first, then the
// descriptor: a snapshot is there when it is whole. The newest few are kept; what a server that died
// left half written goes with the next one that is saved.

import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import type { LogIndex, Term } from "@lattice/core";
import { KeyValueSchema } from "../../../gen/etcdserverpb/rpc_pb.ts";
import { createInTurn } from "../in-turn.ts";
import { LogError, type SnapshotInfo } from "../replicated-log.ts";
import { type Op, put, remove } from "./append.ts";
import { asLogError } from "./as-log-error.ts";
import type { EtcdClient } from "./client/client.ts";
import { EtcdError } from "./client/etcd-error.ts";
import { asInfo, type Facts, type SnapshotDescriptor } from "./facts.ts";
import type { Keys } from "./keys.ts";
import { packLines, unpackLines, verifies } from "./snapshot-data.ts";

/** Compressed. Larger states do not belong into etcd, whose database must hold several. */
export const MAX_SNAPSHOT_BYTES = 256 * 1024 * 1024;
/** All that are kept, together; at least two are, whatever they weigh. */
const MAX_TOTAL_BYTES = 1024 * 1024 * 1024;
const MIN_KEPT = 2;
const WRITE_TIMEOUT_MS = 5_000;
const WRITE_TRIES = 4;
const PIECES_PER_PAGE = 4;

export interface Snapshots {
  save(at: { readonly index: LogIndex; readonly term: Term }, lines: Iterable<string>): Promise<SnapshotInfo>;
  load(): Promise<{ readonly info: SnapshotInfo; readonly lines: AsyncIterable<string> } | null>;
  /** Index of the oldest one that verifies; 0 when there is none. */
  oldestIndex(): Promise<number>;
}

export interface SnapshotsOptions {
  readonly client: EtcdClient;
  readonly keys: Keys;
  readonly facts: Facts;
  readonly keep: number;
  /** Marks what is being written; null while there is none. */
  readonly lease: () => bigint | null;
  readonly nowMs: () => number;
  readonly onWarning: (text: string) => void;
}

export function createSnapshots(options: SnapshotsOptions): Snapshots {
  const { client, keys, facts, keep, nowMs, onWarning } = options;
  const inTurn = createInTurn();
  /** Ids known to verify, by this process having written or read them. */
  const good = new Set<string>();

  /** Writing the same value twice does no harm, so a lost answer is met by asking again. */
  const write = async (ops: readonly Op[]): Promise<void> => {
    for (let n = 1; ; n += 1) {
      try {
        await client.txn({ success: [...ops] }, WRITE_TIMEOUT_MS);
        return;
      } catch (cause) {
        if (n >= WRITE_TRIES || !(cause instanceof EtcdError) || cause.kind !== "unavailable") throw cause;
      }
    }
  };

  const store = async (at: { readonly index: LogIndex; readonly term: Term }, lines: Iterable<string>) => {
    const id = randomBytes(8).toString("hex");
    const lease = options.lease();
    if (lease === null) throw new LogError("unavailable", "etcd cannot be reached; the snapshot was not begun");
    await write([put(keys.saving(id), Buffer.from(String(at.index)), lease)]);
    try {
      let bytes = 0;
      const packed = await packLines(lines, async (n, piece) => {
        bytes += piece.length;
        if (bytes > MAX_SNAPSHOT_BYTES) {
          throw new LogError("too_large", `a snapshot over ${MAX_SNAPSHOT_BYTES} bytes does not belong into etcd`);
        }
        await write([put(keys.snapshotData(id, n), piece)]);
      });
      const descriptor: SnapshotDescriptor = { index: at.index, term: at.term, takenAtMs: nowMs(), id, ...packed };
      const key = keys.snapshot(at.index, id);
      const value = Buffer.from(JSON.stringify(descriptor));
      await write([put(key, value), remove({ key: keys.saving(id) })]);
      facts.put(create(KeyValueSchema, { key, value }));
      good.add(id);
      return asInfo(descriptor);
    } catch (cause) {
      await write([remove(keys.snapshotDataOf(id)), remove({ key: keys.saving(id) })]).catch(() => undefined);
      throw cause;
    }
  };

  /** As they are in etcd now, newest first. */
  const kept = async (): Promise<{
    readonly snapshots: readonly SnapshotDescriptor[];
    readonly saving: ReadonlySet<string>;
  }> => {
    const { kvs } = await client.range({ ...keys.meta });
    const snapshots: SnapshotDescriptor[] = [];
    const saving = new Set<string>();
    for (const kv of kvs) {
      const key = keys.parse(kv.key);
      if (key.kind === "saving") saving.add(key.id);
      if (key.kind === "snapshot")
        snapshots.push(JSON.parse(Buffer.from(kv.value).toString("utf8")) as SnapshotDescriptor);
    }
    snapshots.sort((a, b) => b.index - a.index || b.takenAtMs - a.takenAtMs || (a.id < b.id ? -1 : 1));
    return { snapshots, saving };
  };

  const prune = async (): Promise<void> => {
    // The pieces are listed before the descriptors: whoever wrote one of them is known by then.
    const pieces = await client.range({ ...keys.allSnapshotData, keysOnly: true });
    const { snapshots, saving } = await kept();
    const wanted = choose(snapshots, keep);
    for (const { index, id } of snapshots) {
      if (wanted.has(id)) continue;
      good.delete(id);
      await write([remove({ key: keys.snapshot(index, id) }), remove(keys.snapshotDataOf(id))]);
      facts.removed(keys.snapshot(index, id), 0n);
    }
    const known = new Set([...snapshots.map(({ id }) => id), ...saving]);
    const stray = new Set(
      pieces.kvs.map((kv) => keys.parse(kv.key)).flatMap((key) => (key.kind === "snapshotData" ? [key.id] : [])),
    );
    for (const id of stray) if (!known.has(id)) await write([remove(keys.snapshotDataOf(id))]);
  };

  const readPieces = async ({ id, pieces }: SnapshotDescriptor): Promise<readonly Uint8Array[]> => {
    const all: Uint8Array[] = [];
    const { rangeEnd } = keys.snapshotDataOf(id);
    while (all.length < pieces) {
      const { kvs } = await client.range({
        key: keys.snapshotData(id, all.length),
        rangeEnd,
        limit: BigInt(PIECES_PER_PAGE),
      });
      if (kvs.length === 0) break;
      for (const kv of kvs) all.push(kv.value);
    }
    return all;
  };

  const tryRead = async (snapshot: SnapshotDescriptor): Promise<readonly Uint8Array[] | null> => {
    const pieces = await readPieces(snapshot);
    if (verifies(pieces, snapshot.sha256)) {
      good.add(snapshot.id);
      return pieces;
    }
    good.delete(snapshot.id);
    onWarning(`the snapshot at ${snapshot.index} in etcd is not usable: its checksum does not match`);
    return null;
  };

  return {
    save: (at, lines) =>
      inTurn(async () => {
        try {
          const info = await store(at, lines);
          await prune();
          return info;
        } catch (cause) {
          throw cause instanceof EtcdError ? asLogError(cause, `saving the snapshot at ${at.index}`) : cause;
        }
      }),
    async load() {
      try {
        for (const snapshot of (await kept()).snapshots) {
          const pieces = await tryRead(snapshot);
          if (pieces !== null) return { info: asInfo(snapshot), lines: unpackLines(pieces) };
        }
        return null;
      } catch (cause) {
        throw asLogError(cause, "loading a snapshot");
      }
    },
    async oldestIndex() {
      for (const snapshot of [...(await kept()).snapshots].reverse()) {
        if (good.has(snapshot.id) || (await tryRead(snapshot)) !== null) return snapshot.index;
      }
      return 0;
    },
  };
}

/** Ids to keep, of descriptors newest first: one per index, so many, and not too heavy together. */
export function choose(snapshots: readonly SnapshotDescriptor[], keep: number): ReadonlySet<string> {
  const wanted = new Map<number, SnapshotDescriptor>();
  let bytes = 0;
  for (const snapshot of snapshots) {
    if (wanted.has(snapshot.index)) continue;
    bytes += snapshot.bytes;
    if (wanted.size >= keep || (wanted.size >= MIN_KEPT && bytes > MAX_TOTAL_BYTES)) break;
    wanted.set(snapshot.index, snapshot);
  }
  return new Set([...wanted.values()].map(({ id }) => id));
}
