// The output of one attempt on its way to the store, both streams. A file next to the logs records the progress after
// every chunk and before the attempt is archived, so that a restarted agent continues there; a chunk that was sent but
// not recorded is sent again under the same number.

import { statSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type ChunkEntry, chunkKey, metadataKey, type NodeMetadata, nodeMetadataKey } from "@lattice/wire";
import { HELPER_ENVIRONMENT, spawn } from "../../base/programs.ts";
import type { LogStore } from "../store/log-store.ts";
import type { Compress } from "./compress.ts";
import { allocationMetadata, emptyMetadata, type LogOwnership } from "./metadata.ts";
import { freeable, nextChunk, type ShipLimits, type StreamState, trimmed } from "./plan.ts";

export type StreamName = "stdout" | "stderr";
export const STREAMS: readonly StreamName[] = ["stdout", "stderr"];

/** In the attempt's folder. */
const RECORD = "shipped.json";

export interface ShipmentRecord {
  readonly owner: LogOwnership;
  readonly complete: boolean;
  readonly streams: Readonly<Record<StreamName, StreamState>>;
}

interface ShipmentHost {
  readonly store: LogStore;
  readonly compress: Compress;
  readonly node: string;
  readonly limits: ShipLimits;
  readonly now: () => number;
  /** Returns null when the log does not exist any more. */
  readonly path: (stream: StreamName) => Promise<string | null>;
  readonly live: () => boolean;
  /** Returns whether the store takes output, as far as known. */
  readonly taken: () => boolean;
}

export interface Shipment {
  record(): ShipmentRecord;
  /** Unsent bytes at the last check. */
  waiting(): number;
  /**
   * Sends at most one chunk of each stream. Returns true when there is more to send now. Rejects when sending fails.
   */
  step(): Promise<boolean>;
  /** Applies the limits without contacting the store. */
  hold(): Promise<void>;
  /** Writes the record of progress. */
  save(): Promise<void>;
}

const NEW: StreamState = { start: 0, shipped: 0, chunk: 0, flushedAtMs: 0, dropped: 0 };

export const newRecord = (owner: LogOwnership, nowMs: number): ShipmentRecord => {
  const fresh = { ...NEW, flushedAtMs: nowMs };
  return { owner, complete: false, streams: { stdout: fresh, stderr: fresh } };
};

export const shipment = (host: ShipmentHost, record: ShipmentRecord): Shipment => new AttemptShipment(host, record);

interface ByteRange {
  readonly start: number;
  readonly end: number;
}

class AttemptShipment implements Shipment {
  readonly #host: ShipmentHost;
  #record: ShipmentRecord;
  #metadata: NodeMetadata | null = null;
  #waiting = 0;
  #saved: Promise<void> = Promise.resolve();
  #holding: Promise<void> = Promise.resolve();
  /** When unsent output was first seen. */
  readonly #seenAtMs: Record<StreamName, number | null> = { stdout: null, stderr: null };

  constructor(host: ShipmentHost, record: ShipmentRecord) {
    this.#host = host;
    this.#record = record;
  }

  record(): ShipmentRecord {
    return this.#record;
  }

  waiting(): number {
    return this.#waiting;
  }

  hold(): Promise<void> {
    // One check at a time: another may have recorded a part as freed that is not freed yet.
    this.#holding = this.#holding.catch(() => undefined).then(() => this.#look());
    return this.#holding;
  }

  async step(): Promise<boolean> {
    const { live: isLive, limits, now, path: pathOf } = this.#host;
    // Read before the sizes: output written while the attempt lived is in the files by then.
    const live = isLive();
    let more = false;
    let rest = 0;
    for (const stream of STREAMS) {
      const path = await pathOf(stream);
      if (path === null) continue;
      const found = sizeOf(path);
      const { size } = found;
      await this.#trim(stream, path, found);
      this.#waiting = size - this.#state(stream).shipped;
      if (this.#waiting > 0) this.#seenAtMs[stream] ??= now();
      const next = nextChunk(this.#state(stream), { size, live, nowMs: now() }, limits);
      if (next !== null) await this.#send(stream, path, next);
      await this.#trim(stream, path, found);
      const left = size - this.#state(stream).shipped;
      rest += left;
      more ||= left >= limits.chunkBytes || (!live && left > 0);
    }
    this.#waiting = rest;
    if (!live && rest === 0 && !this.#record.complete) await this.#finish();
    return more;
  }

  /** Writes one record after the other: they share a temporary name. */
  save(): Promise<void> {
    const write = (): Promise<void> => this.#write();
    this.#saved = this.#saved.then(write, write);
    return this.#saved;
  }

  #state(stream: StreamName): StreamState {
    return this.#record.streams[stream];
  }

  async #write(): Promise<void> {
    const path = await this.#host.path("stdout");
    if (path === null) return;
    const file = join(dirname(path), RECORD);
    await writeFile(`${file}.tmp`, JSON.stringify(this.#record), { mode: 0o600 });
    await rename(`${file}.tmp`, file);
  }

  /** Reads the node's metadata once; earlier attempts on this node may have written chunks. */
  async #known(): Promise<NodeMetadata> {
    if (this.#metadata !== null) return this.#metadata;
    const { owner } = this.#record;
    const { store, node } = this.#host;
    const bytes = await store.get(nodeMetadataKey(owner, node));
    this.#metadata = bytes === null ? emptyMetadata(owner, node) : (JSON.parse(bytes.toString()) as NodeMetadata);
    if (owner.nodeIndex === 0) await this.#putJson(metadataKey(owner), allocationMetadata(owner));
    return this.#metadata;
  }

  #putJson(key: string, value: object): Promise<void> {
    return this.#host.store.put(key, Buffer.from(JSON.stringify(value)), "application/json");
  }

  async #note(stream: StreamName, state: StreamState): Promise<void> {
    this.#record = { ...this.#record, streams: { ...this.#record.streams, [stream]: state } };
    await this.save();
  }

  async #send(stream: StreamName, path: string, range: ByteRange): Promise<void> {
    const { store, compress, node, now } = this.#host;
    const { owner } = this.#record;
    const before = await this.#known();
    const state = this.#state(stream);
    const used = before.chunks.filter((entry) => entry.stream === stream && entry.attempt !== owner.attempt);
    const chunk = state.chunk + used.length;
    const entry: ChunkEntry = {
      stream,
      attempt: owner.attempt,
      chunk,
      ...range,
      from_ms: this.#seenAtMs[stream] ?? now(),
      to_ms: now(),
    };
    await store.put(chunkKey(owner, node, entry), await compress({ path, ...range }), "application/zstd");
    const others = before.chunks.filter((other) => other.stream !== stream || other.chunk !== chunk);
    const after: NodeMetadata = { ...before, chunks: [...others, entry], dropped: droppedOf(this.#record) };
    await this.#putJson(nodeMetadataKey(owner, node), after);
    this.#metadata = after;
    this.#seenAtMs[stream] = null;
    await this.#note(stream, { ...state, shipped: range.end, chunk: state.chunk + 1, flushedAtMs: entry.to_ms });
  }

  async #trim(stream: StreamName, path: string, found: FoundSize): Promise<void> {
    const state = this.#state(stream);
    const next = trimmed(state, { ...found, taken: this.#host.taken() }, this.#host.limits);
    if (next === state) return;
    const hole = freeable(state.start, next.start);
    await this.#note(stream, next);
    if (hole !== null) await punch(path, hole);
  }

  async #look(): Promise<void> {
    let rest = 0;
    for (const stream of STREAMS) {
      const path = await this.#host.path(stream);
      if (path === null) continue;
      const found = sizeOf(path);
      await this.#trim(stream, path, found);
      rest += found.size - this.#state(stream).shipped;
    }
    this.#waiting = rest;
  }

  async #finish(): Promise<void> {
    const { owner } = this.#record;
    const { stdout, stderr } = this.#record.streams;
    const before = await this.#known();
    const done = { attempt: owner.attempt, stdout: stdout.shipped, stderr: stderr.shipped };
    const complete = [...before.complete.filter((other) => other.attempt !== owner.attempt), done];
    this.#metadata = { ...before, complete, dropped: droppedOf(this.#record) };
    await this.#putJson(nodeMetadataKey(owner, this.#host.node), this.#metadata);
    this.#record = { ...this.#record, complete: true };
    await this.save();
  }
}

export const droppedOf = ({ streams }: ShipmentRecord): number => streams.stdout.dropped + streams.stderr.dropped;

interface FoundSize {
  readonly size: number;
  readonly diskBytes: number;
}

const BLOCK_BYTES = 512;

/** The logs are the agent's own files, and a look costs less than a thread. */
function sizeOf(path: string): FoundSize {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? { size: 0, diskBytes: 0 } : { size: found.size, diskBytes: found.blocks * BLOCK_BYTES };
}

/** Frees a part of a file without moving what follows. Where the file system cannot, the file stays whole. */
function punch(path: string, { offset, length }: { readonly offset: number; readonly length: number }): Promise<void> {
  return new Promise((resolve) => {
    const args = ["--punch-hole", "--offset", String(offset), "--length", String(length), path];
    const child = spawn("fallocate", args, { stdio: "ignore", env: HELPER_ENVIRONMENT });
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
