// The bytes of one snapshot: its lines, compressed, in pieces that etcd accepts, with one checksum over all of them.
// Nothing is returned before the whole has been verified.

import { createHash } from "node:crypto";
import { once } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createGunzip, createGzip } from "node:zlib";
import { PIECE_BYTES } from "./record.ts";

/** Bytes per slice of work, so that the event loop runs in between. */
const SLICE_MS = 2;
const SLICE_CHARS = 256 * 1024;
/** Lines between two clock reads, each of which costs more than a short line. */
const LINES_PER_CLOCK_READ = 16;
/** JSON lines shrink to about a tenth at this level; a higher one costs the leader too much time. */
const LEVEL = 1;

interface PackedSnapshot {
  readonly bytes: number;
  readonly pieces: number;
  readonly sha256: string;
}

/** Calls `write` for each piece in order. Rejects with the error of `lines` when they fail. */
export async function packLines(
  lines: Iterable<string>,
  write: (n: number, piece: Buffer) => Promise<void>,
): Promise<PackedSnapshot> {
  const gzip = createGzip({ level: LEVEL });
  let failure: unknown = null;
  const feeding = feed(lines, gzip).catch((cause: unknown) => {
    failure = cause;
    gzip.destroy();
  });
  const hash = createHash("sha256");
  let kept: Buffer[] = [];
  let keptBytes = 0;
  let bytes = 0;
  let pieces = 0;
  const flush = async (): Promise<void> => {
    const piece = Buffer.concat(kept);
    kept = [];
    keptBytes = 0;
    hash.update(piece);
    bytes += piece.length;
    await write(pieces, piece);
    pieces += 1;
  };
  try {
    for await (const chunk of gzip as AsyncIterable<Buffer>) {
      kept.push(chunk);
      keptBytes += chunk.length;
      if (keptBytes >= PIECE_BYTES - chunk.length) await flush();
    }
  } catch (cause) {
    gzip.destroy();
    throw failure ?? cause;
  }
  await feeding;
  if (failure !== null) throw failure;
  if (keptBytes > 0) await flush();
  return { bytes, pieces, sha256: hash.digest("hex") };
}

async function feed(lines: Iterable<string>, gzip: ReturnType<typeof createGzip>): Promise<void> {
  let text = "";
  let count = 0;
  let since = performance.now();
  const pass = async (): Promise<void> => {
    if (!gzip.write(text)) await once(gzip, "drain");
    text = "";
    await nextTurn();
    since = performance.now();
  };
  for (const line of lines) {
    if (line.includes("\n")) throw new RangeError("a line of a snapshot holds a line break");
    text += `${line}\n`;
    count += 1;
    const isClockRead = count % LINES_PER_CLOCK_READ === 0;
    if (text.length >= SLICE_CHARS || (isClockRead && performance.now() - since >= SLICE_MS)) await pass();
  }
  gzip.end(text);
}

/** Returns whether the pieces match the checksum. */
export function verifies(pieces: readonly Uint8Array[], sha256: string): boolean {
  const hash = createHash("sha256");
  for (const piece of pieces) hash.update(piece);
  return hash.digest("hex") === sha256;
}

export async function* unpackLines(pieces: readonly Uint8Array[]): AsyncGenerator<string, void, undefined> {
  const gunzip = createGunzip();
  const feeding = (async () => {
    for (const piece of pieces) if (!gunzip.write(piece)) await once(gunzip, "drain");
    gunzip.end();
  })().catch((cause: Error) => gunzip.destroy(cause));
  let rest: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      const text = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      let from = 0;
      for (let end = text.indexOf(10); end >= 0; end = text.indexOf(10, from)) {
        yield text.toString("utf8", from, end);
        from = end + 1;
      }
      rest = text.subarray(from);
    }
    await feeding;
  } finally {
    gunzip.destroy();
  }
}
