// The snapshots of one log, in etcd, where a new member finds them. The pieces are written first, then the descriptor, so that a
// snapshot is visible only when it is complete. The newest few are kept; saving one removes the incomplete ones of dead servers.

import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import type { LogIndex, Term } from "@lattice/core";
import { KeyValueSchema } from "../../../gen/etcdserverpb/rpc_pb.ts";
import { LogError, type SnapshotInfo } from "../contract/replicated-log.ts";
import { createSerialQueue } from "../contract/serial-queue.ts";
import { type Op, put, remove } from "./append.ts";
import { asLogError } from "./as-log-error.ts";
import type { EtcdClient } from "./client/client.ts";
import { EtcdError } from "./client/etcd-error.ts";
import type { Keys } from "./keys.ts";
import { asInfo, type LogMetadata, type SnapshotDescriptor } from "./metadata.ts";
import { packLines, unpackLines, verifies } from "./snapshot-data.ts";

/** Compressed. The database of etcd must hold several snapshots. */
const MAX_SNAPSHOT_BYTES = 256 * 1024 * 1024;
/** Total size of the kept snapshots; two are kept at any size. */
const MAX_TOTAL_BYTES = 1024 * 1024 * 1024;
const MIN_KEPT = 2;
const WRITE_TIMEOUT_MS = 5_000;
const WRITE_TRIES = 4;
const PIECES_PER_PAGE = 4;

interface SnapshotPosition {
  readonly index: LogIndex;
  readonly term: Term;
}

interface SnapshotsOptions {
  readonly client: EtcdClient;
  readonly keys: Keys;
  readonly metadata: LogMetadata;
  readonly keep: number;
  /** Lease of the keys that mark snapshots being written; `null` without one. */
  readonly lease: () => bigint | null;
  readonly nowMs: () => number;
  readonly onWarning: (text: string) => void;
}

export class Snapshots {
  readonly #options: SnapshotsOptions;
  readonly #inTurn = createSerialQueue();
  /** Ids known to verify, because this process wrote or read them. */
  readonly #good = new Set<string>();

  constructor(options: SnapshotsOptions) {
    this.#options = options;
  }

  save(at: SnapshotPosition, lines: Iterable<string>): Promise<SnapshotInfo> {
    return this.#inTurn(async () => {
      try {
        const info = await this.#store(at, lines);
        await this.#prune();
        return info;
      } catch (cause) {
        throw cause instanceof EtcdError ? asLogError(cause, `saving the snapshot at ${at.index}`) : cause;
      }
    });
  }

  async load(): Promise<{ readonly info: SnapshotInfo; readonly lines: AsyncIterable<string> } | null> {
    try {
      for (const snapshot of (await this.#stored()).snapshots) {
        const pieces = await this.#tryRead(snapshot);
        if (pieces !== null) return { info: asInfo(snapshot), lines: unpackLines(pieces) };
      }
      return null;
    } catch (cause) {
      throw asLogError(cause, "loading a snapshot");
    }
  }

  /** Returns the index of the oldest snapshot that verifies; 0 when there is none. */
  async oldestIndex(): Promise<number> {
    for (const snapshot of [...(await this.#stored()).snapshots].reverse()) {
      if (this.#good.has(snapshot.id) || (await this.#tryRead(snapshot)) !== null) return snapshot.index;
    }
    return 0;
  }

  /** Writing the same value twice is harmless, so a lost answer is followed by a retry. */
  async #write(ops: readonly Op[]): Promise<void> {
    for (let n = 1; ; n += 1) {
      try {
        await this.#options.client.txn({ success: [...ops] }, WRITE_TIMEOUT_MS);
        return;
      } catch (cause) {
        if (n >= WRITE_TRIES || !(cause instanceof EtcdError) || cause.kind !== "unavailable") throw cause;
      }
    }
  }

  async #store(at: SnapshotPosition, lines: Iterable<string>): Promise<SnapshotInfo> {
    const { keys, metadata, nowMs } = this.#options;
    const id = randomBytes(8).toString("hex");
    const lease = this.#options.lease();
    if (lease === null) throw new LogError("unavailable", "etcd cannot be reached; the snapshot was not started");
    await this.#write([put(keys.saving(id), Buffer.from(String(at.index)), lease)]);
    try {
      let bytes = 0;
      const packed = await packLines(lines, async (n, piece) => {
        bytes += piece.length;
        if (bytes > MAX_SNAPSHOT_BYTES)
          throw new LogError("too_large", `the snapshot exceeds ${MAX_SNAPSHOT_BYTES} bytes, the limit in etcd`);
        await this.#write([put(keys.snapshotData(id, n), piece)]);
      });
      const descriptor: SnapshotDescriptor = { index: at.index, term: at.term, takenAtMs: nowMs(), id, ...packed };
      const key = keys.snapshot(at.index, id);
      const value = Buffer.from(JSON.stringify(descriptor));
      await this.#write([put(key, value), remove({ key: keys.saving(id) })]);
      metadata.put(create(KeyValueSchema, { key, value }));
      this.#good.add(id);
      return asInfo(descriptor);
    } catch (cause) {
      await this.#write([remove(keys.snapshotDataOf(id)), remove({ key: keys.saving(id) })]).catch(() => undefined);
      throw cause;
    }
  }

  /** Reads the descriptors in etcd, newest first, and the ids of snapshots being written. */
  async #stored(): Promise<{
    readonly snapshots: readonly SnapshotDescriptor[];
    readonly saving: ReadonlySet<string>;
  }> {
    const { client, keys } = this.#options;
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
  }

  async #prune(): Promise<void> {
    const { client, keys, metadata, keep } = this.#options;
    // The pieces are listed before the descriptors, so that the writer of every listed piece is known.
    const pieces = await client.range({ ...keys.allSnapshotData, keysOnly: true });
    const { snapshots, saving } = await this.#stored();
    const kept = choose(snapshots, keep);
    for (const { index, id } of snapshots) {
      if (kept.has(id)) continue;
      this.#good.delete(id);
      await this.#write([remove({ key: keys.snapshot(index, id) }), remove(keys.snapshotDataOf(id))]);
      metadata.removed(keys.snapshot(index, id), 0n);
    }
    const known = new Set([...snapshots.map(({ id }) => id), ...saving]);
    const stray = new Set(
      pieces.kvs.map((kv) => keys.parse(kv.key)).flatMap((key) => (key.kind === "snapshotData" ? [key.id] : [])),
    );
    for (const id of stray) if (!known.has(id)) await this.#write([remove(keys.snapshotDataOf(id))]);
  }

  async #readPieces({ id, pieces }: SnapshotDescriptor): Promise<readonly Uint8Array[]> {
    const { client, keys } = this.#options;
    const all: Uint8Array[] = [];
    const { rangeEnd } = keys.snapshotDataOf(id);
    const limit = BigInt(PIECES_PER_PAGE);
    while (all.length < pieces) {
      const { kvs } = await client.range({ key: keys.snapshotData(id, all.length), rangeEnd, limit });
      if (kvs.length === 0) break;
      for (const kv of kvs) all.push(kv.value);
    }
    return all;
  }

  async #tryRead(snapshot: SnapshotDescriptor): Promise<readonly Uint8Array[] | null> {
    const pieces = await this.#readPieces(snapshot);
    if (verifies(pieces, snapshot.sha256)) {
      this.#good.add(snapshot.id);
      return pieces;
    }
    this.#good.delete(snapshot.id);
    this.#options.onWarning(`the snapshot at ${snapshot.index} in etcd is not usable: its checksum does not match`);
    return null;
  }
}

/** Returns the ids to keep, of descriptors newest first: one per index, at most `keep`, within the total size. */
export function choose(snapshots: readonly SnapshotDescriptor[], keep: number): ReadonlySet<string> {
  const kept = new Map<number, SnapshotDescriptor>();
  let bytes = 0;
  for (const snapshot of snapshots) {
    if (kept.has(snapshot.index)) continue;
    bytes += snapshot.bytes;
    if (kept.size >= keep || (kept.size >= MIN_KEPT && bytes > MAX_TOTAL_BYTES)) break;
    kept.set(snapshot.index, snapshot);
  }
  return new Set([...kept.values()].map(({ id }) => id));
}
