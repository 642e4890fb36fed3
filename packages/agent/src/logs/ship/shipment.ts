// The output of one attempt on its way to the store, both streams. How far it has come is in a file
// beside the logs, written after every chunk and before the attempt is put away, so that a restarted agent
// goes on where this one was; a chunk that was sent but not noted is sent again under the same number.

import { spawn } from "node:child_process";
import { readFile, rename, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type ChunkEntry, chunkKey, metadataKey, type NodeMetadata, nodeMetadataKey } from "@lattice/wire";
import type { LogStore } from "../store/log-store.ts";
import type { Compress } from "./compress.ts";
import { allocationMetadata, emptyMetadata, type Owner } from "./metadata.ts";
import { freeable, nextChunk, type ShipLimits, type StreamState, trimmed } from "./plan.ts";

export type StreamName = "stdout" | "stderr";
export const STREAMS: readonly StreamName[] = ["stdout", "stderr"];

/** In the attempt's folder. */
export const RECORD = "shipped.json";

export interface ShipmentRecord {
  readonly owner: Owner;
  readonly complete: boolean;
  readonly streams: Readonly<Record<StreamName, StreamState>>;
}

export interface ShipmentHost {
  readonly store: LogStore;
  readonly compress: Compress;
  readonly node: string;
  readonly limits: ShipLimits;
  readonly now: () => number;
  /** Null: the log is gone. */
  readonly path: (stream: StreamName) => Promise<string | null>;
  readonly live: () => boolean;
  /** The store takes what it is sent, as far as is known. */
  readonly taken: () => boolean;
}

export interface Shipment {
  record(): ShipmentRecord;
  /** Bytes that were not sent at the last look. */
  waiting(): number;
  /** One look, and at most one chunk of each stream. True: there is more to send at once. Rejects when it cannot be sent. */
  step(): Promise<boolean>;
  /** A look without the store: what is too much is dropped. */
  hold(): Promise<void>;
  /** Writes down how far it has come, sent or not. */
  save(): Promise<void>;
}

const NEW: StreamState = { start: 0, shipped: 0, chunk: 0, flushedAtMs: 0, dropped: 0 };

export const newRecord = (owner: Owner, nowMs: number): ShipmentRecord => {
  const fresh = { ...NEW, flushedAtMs: nowMs };
  return { owner, complete: false, streams: { stdout: fresh, stderr: fresh } };
};

export function shipment(host: ShipmentHost, found: ShipmentRecord): Shipment {
  const { store, compress, node, limits, now } = host;
  const { owner } = found;
  let record = found;
  let metadata: NodeMetadata | null = null;
  let waiting = 0;
  let saved: Promise<void> = Promise.resolve();
  let holding: Promise<void> = Promise.resolve();
  /** When output that waits was first seen. */
  const seenAt: Record<StreamName, number | null> = { stdout: null, stderr: null };

  /** What earlier attempts on this node have left there is gone on from. */
  async function known(): Promise<NodeMetadata> {
    if (metadata !== null) return metadata;
    const bytes = await store.get(nodeMetadataKey(owner, node));
    metadata = bytes === null ? emptyMetadata(owner, node) : (JSON.parse(bytes.toString()) as NodeMetadata);
    if (owner.nodeIndex === 0) await putJson(metadataKey(owner), allocationMetadata(owner));
    return metadata;
  }

  const putJson = (key: string, value: object): Promise<void> =>
    store.put(key, Buffer.from(JSON.stringify(value)), "application/json");

  async function note(stream: StreamName, state: StreamState): Promise<void> {
    record = { ...record, streams: { ...record.streams, [stream]: state } };
    await save();
  }

  /** One after the other: they share a name beside the file. */
  function save(): Promise<void> {
    saved = saved.then(write, write);
    return saved;
  }

  async function write(): Promise<void> {
    const path = await host.path("stdout");
    if (path === null) return;
    const file = join(dirname(path), RECORD);
    await writeFile(`${file}.tmp`, JSON.stringify(record));
    await rename(`${file}.tmp`, file);
  }

  async function send(stream: StreamName, path: string, range: { start: number; end: number }): Promise<void> {
    const before = await known();
    const state = record.streams[stream];
    const used = before.chunks.filter((entry) => entry.stream === stream && entry.attempt !== owner.attempt);
    const chunk = state.chunk + used.length;
    const entry: ChunkEntry = {
      stream,
      attempt: owner.attempt,
      chunk,
      ...range,
      from_ms: seenAt[stream] ?? now(),
      to_ms: now(),
    };
    await store.put(chunkKey(owner, node, entry), await compress({ path, ...range }), "application/zstd");
    const others = before.chunks.filter((other) => other.stream !== stream || other.chunk !== chunk);
    const after: NodeMetadata = { ...before, chunks: [...others, entry], dropped: droppedOf(record) };
    await putJson(nodeMetadataKey(owner, node), after);
    metadata = after;
    seenAt[stream] = null;
    await note(stream, { ...state, shipped: range.end, chunk: state.chunk + 1, flushedAtMs: entry.to_ms });
  }

  async function trim(stream: StreamName, path: string, size: number): Promise<void> {
    const state = record.streams[stream];
    const next = trimmed(state, { size, taken: host.taken() }, limits);
    if (next === state) return;
    const hole = freeable(state.start, next.start);
    await note(stream, next);
    if (hole !== null) await punch(path, hole);
  }

  async function look(): Promise<void> {
    let rest = 0;
    for (const stream of STREAMS) {
      const path = await host.path(stream);
      if (path === null) continue;
      const size = await sizeOf(path);
      await trim(stream, path, size);
      rest += size - record.streams[stream].shipped;
    }
    waiting = rest;
  }

  async function finish(): Promise<void> {
    const { stdout, stderr } = record.streams;
    const before = await known();
    const done = { attempt: owner.attempt, stdout: stdout.shipped, stderr: stderr.shipped };
    const complete = [...before.complete.filter((other) => other.attempt !== owner.attempt), done];
    metadata = { ...before, complete, dropped: droppedOf(record) };
    await putJson(nodeMetadataKey(owner, node), metadata);
    record = { ...record, complete: true };
    await save();
  }

  return {
    record: () => record,
    waiting: () => waiting,
    save,
    hold() {
      // One look at a time: what another has noted as freed may not be freed yet, and the file may be moved after this.
      holding = holding.catch(() => undefined).then(look);
      return holding;
    },
    async step() {
      // Asked before the look at the files: what was written while it lived is in them by then.
      const live = host.live();
      let more = false;
      let rest = 0;
      for (const stream of STREAMS) {
        const path = await host.path(stream);
        const size = path === null ? 0 : await sizeOf(path);
        if (path === null) continue;
        await trim(stream, path, size);
        waiting = size - record.streams[stream].shipped;
        if (waiting > 0) seenAt[stream] ??= now();
        const next = nextChunk(record.streams[stream], { size, live, nowMs: now() }, limits);
        if (next !== null) await send(stream, path, next);
        await trim(stream, path, size);
        const left = size - record.streams[stream].shipped;
        rest += left;
        more ||= left >= limits.chunkBytes || (!live && left > 0);
      }
      waiting = rest;
      if (!live && rest === 0 && !record.complete) await finish();
      return more;
    },
  };
}

const droppedOf = ({ streams }: ShipmentRecord): number => streams.stdout.dropped + streams.stderr.dropped;

const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    (found) => found.size,
    () => 0,
  );

/** Frees a part of a file without moving what follows. Where the file system cannot, the file stays whole. */
function punch(path: string, { offset, length }: { readonly offset: number; readonly length: number }): Promise<void> {
  return new Promise((resolve) => {
    const args = ["--punch-hole", "--offset", String(offset), "--length", String(length), path];
    const child = spawn("fallocate", args, { stdio: "ignore" });
    child.once("error", () => resolve());
    child.once("close", () => resolve());
  });
}

export async function readRecord(dir: string): Promise<ShipmentRecord | null> {
  const text = await readFile(join(dir, RECORD), "utf8").catch(() => null);
  if (text === null) return null;
  try {
    return JSON.parse(text) as ShipmentRecord;
  } catch {
    return null;
  }
}
