// One snapshot on disk: its lines, then a footer with their number, their checksum and the position of the snapshot.
// It is written to a temporary file and renamed, so that it is visible only when complete; it is read only after it
// has been verified as a whole.

import { createHash } from "node:crypto";
import { join } from "node:path";
import { type LogIndex, logIndex, type Term, term } from "@lattice/core";
import type { SnapshotInfo } from "../contract/replicated-log.ts";
import { type Files, type OpenFile, readFully, writeFully } from "./files.ts";

/** Bytes per slice of work, so that the event loop runs in between. */
const SLICE_MS = 2;
const SLICE_BYTES = 256 * 1024;
/** Lines between two clock reads, each of which costs more than a short line. */
const LINES_PER_CLOCK_READ = 16;
const READ_BYTES = 256 * 1024;
const FOOTER_MARK = "#lattice-snapshot ";
const MAX_FOOTER_BYTES = 1024;
const NAME = /^snap-([0-9]{1,15})-([0-9]{1,15})\.jsonl$/;

export interface SnapshotName {
  readonly index: number;
  readonly term: number;
}

export const snapshotName = (at: SnapshotName): string => `snap-${at.index}-${at.term}.jsonl`;

export function parseSnapshotName(name: string): SnapshotName | null {
  const parts = NAME.exec(name);
  return parts === null ? null : { index: Number(parts[1]), term: Number(parts[2]) };
}

export async function writeSnapshot(
  files: Files,
  dir: string,
  at: { readonly index: LogIndex; readonly term: Term; readonly takenAtMs: number },
  lines: Iterable<string>,
): Promise<SnapshotInfo> {
  const path = join(dir, snapshotName(at));
  const temporary = `${path}.tmp`;
  const file = await files.open(temporary, "create");
  try {
    const hash = createHash("sha256");
    let bytes = 0;
    let count = 0;
    for (const slice of slices(lines)) {
      const chunk = Buffer.from(slice.text);
      hash.update(chunk);
      await writeFully(file, chunk, bytes);
      bytes += chunk.length;
      count += slice.count;
    }
    const footer = { ...at, lines: count, sha256: hash.digest("hex") };
    const chunk = Buffer.from(`${FOOTER_MARK}${JSON.stringify(footer)}\n`);
    await writeFully(file, chunk, bytes);
    await file.datasync();
    await file.close();
    await files.rename(temporary, path);
    await files.syncDir(dir);
    return { index: at.index, term: at.term, bytes: bytes + chunk.length, takenAtMs: at.takenAtMs };
  } catch (cause) {
    await file.close().catch(() => undefined);
    await files.remove(temporary).catch(() => undefined);
    throw cause;
  }
}

/** Joins lines until a slice has used its time or its bytes; the caller yields in between. */
function* slices(lines: Iterable<string>): Generator<{ readonly text: string; readonly count: number }> {
  let text = "";
  let count = 0;
  let since = performance.now();
  for (const line of lines) {
    if (line.includes("\n")) throw new RangeError("a line of a snapshot holds a line break");
    text += `${line}\n`;
    count += 1;
    const isClockRead = count % LINES_PER_CLOCK_READ === 0;
    if (text.length >= SLICE_BYTES || (isClockRead && performance.now() - since >= SLICE_MS)) {
      yield { text, count };
      text = "";
      count = 0;
      since = performance.now();
    }
  }
  if (count > 0) yield { text, count };
}

export interface VerifiedSnapshot {
  readonly info: SnapshotInfo;
  /** Size of the lines, without the footer. */
  readonly bodyBytes: number;
}

/** Reads the file as a whole. Throws with the reason when it does not verify. */
export async function verifySnapshot(file: OpenFile, name: SnapshotName): Promise<VerifiedSnapshot> {
  const size = await file.size();
  const tail = Buffer.alloc(Math.min(size, MAX_FOOTER_BYTES));
  await readFully(file, tail, size - tail.length);
  const start = tail.lastIndexOf("\n", tail.length - 2) + 1;
  const last = tail.toString("utf8", start);
  if (!last.startsWith(FOOTER_MARK) || !last.endsWith("\n")) throw new Error("its last line is missing");
  const bodyBytes = size - tail.length + start;
  const footer = parseFooter(last.slice(FOOTER_MARK.length));
  if (footer.index !== name.index || footer.term !== name.term) throw new Error("it is a snapshot of another entry");
  const hash = createHash("sha256");
  for await (const chunk of chunks(file, bodyBytes)) hash.update(chunk);
  if (hash.digest("hex") !== footer.sha256) throw new Error("its checksum does not match");
  const { index, takenAtMs } = footer;
  return { bodyBytes, info: { index: logIndex(index), term: term(footer.term), bytes: size, takenAtMs } };
}

export async function* readLines(file: OpenFile, bodyBytes: number): AsyncGenerator<string, void, undefined> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks(file, bodyBytes)) {
    const text = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let from = 0;
    for (let end = text.indexOf(10); end >= 0; end = text.indexOf(10, from)) {
      yield text.toString("utf8", from, end);
      from = end + 1;
    }
    rest = Buffer.from(text.subarray(from));
  }
}

async function* chunks(file: OpenFile, end: number): AsyncGenerator<Buffer, void, undefined> {
  const buffer = Buffer.allocUnsafe(READ_BYTES);
  for (let at = 0; at < end; ) {
    const got = await readFully(file, buffer.subarray(0, Math.min(READ_BYTES, end - at)), at);
    if (got === 0) throw new Error("it ended early");
    yield buffer.subarray(0, got);
    at += got;
  }
}

interface Footer {
  readonly index: number;
  readonly term: number;
  readonly takenAtMs: number;
  readonly sha256: string;
}

function parseFooter(text: string): Footer {
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null) throw new Error("its last line is damaged");
  const { index, term, takenAtMs, sha256 } = value as Record<string, unknown>;
  if (
    typeof index !== "number" ||
    typeof term !== "number" ||
    typeof takenAtMs !== "number" ||
    typeof sha256 !== "string"
  ) {
    throw new Error("its last line is damaged");
  }
  return { index, term, takenAtMs, sha256 };
}
