// Reads output from the store by ranges: the metadata of a node lists its chunks, and only the needed ones are
// fetched. A missing or damaged chunk ends the read with a problem; it is never skipped silently.

import { spawn } from "node:child_process";
import { promisify } from "node:util";
import * as zlib from "node:zlib";
import { type ChunkEntry, chunkKey, type NodeMetadata, nodeMetadataKey, ProblemError } from "@lattice/wire";
import type { LogsQuery } from "./query.ts";
import type { OutputObjects } from "./store.ts";

interface ArchiveOwner {
  readonly tenant: string;
  readonly project: string;
}

export interface ArchivedLog {
  /** The output is stored up to here. */
  readonly end: number;
  /** The attempt has ended and all its output is stored. */
  readonly complete: boolean;
  /** Yields from `query.offset` on, within its times, to the end of the stored part. */
  read(query: LogsQuery): AsyncGenerator<LogPiece>;
  /** Yields everything stored from that position on. */
  from(position: number): AsyncGenerator<LogPiece>;
  /** Yields the last lines. */
  tail(lines: number): AsyncGenerator<LogPiece>;
}

export interface LogPiece {
  readonly data: Uint8Array;
  /** Position after it. */
  readonly offset: number;
}

export interface OutputArchive {
  /** Returns `null` when nothing is stored. */
  find(query: LogsQuery, owner: ArchiveOwner): Promise<ArchivedLog | null>;
}

export function createOutputArchive(objects: OutputObjects): OutputArchive {
  return {
    async find(query, { tenant, project }) {
      const { allocation, attempt, node, stream } = query;
      const owner = { tenant, project, allocationId: allocation };
      const bytes = await objects.get(nodeMetadataKey(owner, node)).catch((cause: unknown) => {
        throw unavailable("the log store does not answer", cause);
      });
      if (bytes === null) return null;
      const metadata = JSON.parse(bytes.toString()) as NodeMetadata;
      const chunks = metadata.chunks
        .filter((chunk) => chunk.stream === stream && chunk.attempt === attempt)
        .sort((a, b) => a.start - b.start);
      const over = metadata.complete.find((done) => done.attempt === attempt);
      const fetch = (chunk: ChunkEntry): Promise<Buffer> => fetched(objects, chunkKey(owner, node, chunk));
      return {
        end: chunks.at(-1)?.end ?? 0,
        complete: over !== undefined,
        read: (range) => readRange(chunks, range, fetch),
        from: (offset) => readRange(chunks, { offset, sinceMs: 0, untilMs: 0 }, fetch),
        tail: (lines) => readTail(chunks, lines, fetch),
      };
    },
  };
}

async function fetched(objects: OutputObjects, key: string): Promise<Buffer> {
  const packed = await objects.get(key).catch((cause: unknown) => {
    throw unavailable("the log store does not answer", cause);
  });
  if (packed === null) throw unavailable(`the stored chunk ${key} is missing`);
  return unpacked(packed).catch((cause: unknown) => {
    throw unavailable(`the stored chunk ${key} is broken`, cause);
  });
}

const unavailable = (detail: string, cause?: unknown): ProblemError =>
  new ProblemError("logs_unavailable", { detail, ...(cause === undefined ? {} : { cause }) });

async function* readRange(
  chunks: readonly ChunkEntry[],
  { offset, sinceMs, untilMs }: Pick<LogsQuery, "offset" | "sinceMs" | "untilMs">,
  fetch: (chunk: ChunkEntry) => Promise<Buffer>,
): AsyncGenerator<LogPiece> {
  for (const chunk of chunks) {
    if (chunk.end <= offset) continue;
    if (sinceMs > 0 && chunk.to_ms < sinceMs) continue;
    if (untilMs > 0 && chunk.from_ms > untilMs) return;
    const data = await fetch(chunk);
    yield* inParts({ data: data.subarray(Math.max(0, offset - chunk.start)), offset: chunk.end });
  }
}

async function* readTail(
  chunks: readonly ChunkEntry[],
  lines: number,
  fetch: (chunk: ChunkEntry) => Promise<Buffer>,
): AsyncGenerator<LogPiece> {
  const held: { readonly data: Buffer; readonly chunk: ChunkEntry }[] = [];
  // The newline at the end belongs to the last line; it does not start another.
  let missingLines = lines + 1;
  for (const chunk of [...chunks].reverse()) {
    const data = await fetch(chunk);
    let at = data.length;
    if (held.length === 0 && data[at - 1] !== NEWLINE) missingLines -= 1;
    while (missingLines > 0 && at > 0) {
      at = data.lastIndexOf(NEWLINE, at - 1);
      if (at < 0) break;
      missingLines -= 1;
      if (missingLines === 0) break;
    }
    held.unshift({ data: missingLines === 0 ? data.subarray(at + 1) : data, chunk });
    if (missingLines === 0) break;
  }
  for (const { data, chunk } of held) yield* inParts({ data, offset: chunk.end });
}

/** The size that a node sends: a whole chunk in one message would block the others. */
const PART_BYTES = 64 * 1024;

function* inParts({ data, offset }: LogPiece): Generator<LogPiece> {
  const start = offset - data.length;
  for (let at = 0; at < data.length; at += PART_BYTES) {
    const part = data.subarray(at, at + PART_BYTES);
    yield { data: part, offset: start + at + part.length };
  }
}

const NEWLINE = 10;

interface NewerZlib {
  readonly zstdDecompress?: (data: Uint8Array, done: (error: Error | null, result: Buffer) => void) => void;
}

/** Decompresses zstd: with Node where it can (22.15 and later), else with the `zstd` program. */
async function unpacked(data: Buffer): Promise<Buffer> {
  const own = (zlib as NewerZlib).zstdDecompress;
  if (own !== undefined) return promisify(own)(data);
  return new Promise((resolve, reject) => {
    const child = spawn("zstd", ["-q", "-d", "-c"], { stdio: ["pipe", "pipe", "ignore"] });
    const out: Buffer[] = [];
    child.stdout.on("data", (piece: Buffer) => out.push(piece));
    // It ended before it read everything; its exit status explains why.
    child.stdin.on("error", () => undefined);
    child.once("error", () => reject(new Error("the program zstd is needed to read stored output (Debian: zstd)")));
    child.once("close", (code) =>
      code === 0 ? resolve(Buffer.concat(out)) : reject(new Error(`a stored chunk cannot be unpacked (zstd: ${code})`)),
    );
    child.stdin.end(data);
  });
}
