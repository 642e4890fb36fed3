// Segment files of the history: their names, reading them line by line, and verifying a closed one as a whole.
// Synchronous: it runs in the history thread.

import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import { closingOf, decodeLine, type LineHead } from "./line.ts";

export interface ClosedSegment {
  readonly number: number;
  readonly bytes: number;
  readonly records: number;
  readonly sha256: string;
}

const NAME = /^history-([0-9]{8})\.jsonl$/;
const READ_BYTES = 1024 * 1024;
/** Longer than any record: a file without line breaks must not fill the memory. */
const MAX_LINE_BYTES = 32 * 1024 * 1024;

export const segmentName = (number: number): string => `history-${String(number).padStart(8, "0")}.jsonl`;

export const segmentPath = (dir: string, number: number): string => join(dir, segmentName(number));

/** Returns the numbers of the segments, in order. */
export function listSegments(dir: string): readonly number[] {
  return readdirSync(dir)
    .map((name) => NAME.exec(name)?.[1])
    .filter((digits) => digits !== undefined)
    .map(Number)
    .sort((a, b) => a - b);
}

interface ScannedLine {
  readonly offset: number;
  /** Without the line break. */
  readonly bytes: number;
  /** `null` when the line does not match its checksum. */
  readonly head: LineHead | null;
  /** False for a last line without a line break. */
  readonly whole: boolean;
}

export function* scanLines(path: string, from: number): Generator<ScannedLine, void, undefined> {
  const fd = openSync(path, "r");
  try {
    const size = fstatSync(fd).size;
    const chunk = Buffer.allocUnsafe(READ_BYTES);
    let rest: Buffer = Buffer.alloc(0);
    let offset = from;
    for (let at = from; at < size; ) {
      const got = readSync(fd, chunk, 0, READ_BYTES, at);
      if (got === 0) break;
      at += got;
      const text = Buffer.concat([rest, chunk.subarray(0, got)]);
      let start = 0;
      for (let end = text.indexOf(10); end >= 0; end = text.indexOf(10, start)) {
        const line = text.subarray(start, end);
        yield { offset, bytes: line.length, head: decodeLine(line), whole: true };
        offset += line.length + 1;
        start = end + 1;
      }
      rest = Buffer.from(text.subarray(start));
      if (rest.length > MAX_LINE_BYTES) break;
    }
    if (rest.length > 0) yield { offset, bytes: size - offset, head: null, whole: false };
  } finally {
    closeSync(fd);
  }
}

/** Returns what is wrong with a closed segment; `null` when it is intact. */
export function checkClosed(path: string): string | null {
  let before = 0;
  let closing: { readonly records: number; readonly sha256: string } | null = null;
  let records = 0;
  let bad = 0;
  for (const line of scanLines(path, 0)) {
    if (line.head?.kind === "closing") {
      closing = closingOf(line.head);
      before = line.offset;
    } else {
      records += 1;
      if (line.head === null) bad += 1;
    }
  }
  if (bad > 0) return `${path}: ${bad} of ${records} records do not match their checksum`;
  if (closing === null) return `${path}: its last line is missing`;
  if (closing.records !== records) return `${path}: ${records} records where ${closing.records} were written`;
  if (hashOf(path, before) !== closing.sha256) return `${path}: its checksum does not match`;
  return null;
}

/** Returns the SHA-256 of the first bytes of the file. */
export function hashOf(path: string, bytes: number): string {
  const fd = openSync(path, "r");
  try {
    const hash = createHash("sha256");
    const chunk = Buffer.allocUnsafe(READ_BYTES);
    for (let at = 0; at < bytes; ) {
      const got = readSync(fd, chunk, 0, Math.min(READ_BYTES, bytes - at), at);
      if (got === 0) break;
      hash.update(chunk.subarray(0, got));
      at += got;
    }
    return hash.digest("hex");
  } finally {
    closeSync(fd);
  }
}
