// One segment file: its name, its header and its state in memory. A segment is created atomically (written to a
// temporary file, synced, renamed), so a broken header is damage, never the result of a crash.
//
//   0  8 bytes "LATLOG1\n"    8  u48 first index    14  u32 salt of its checksums    18  u32 checksum of bytes 0 to 17

import { randomInt } from "node:crypto";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { LogError } from "../contract/replicated-log.ts";
import { type Files, type OpenFile, readFully, writeFully } from "./files.ts";

export const SEGMENT_HEADER_BYTES = 32;
const MAGIC = Buffer.from("LATLOG1\n");
const NAME = /^([0-9]{16})\.seg$/;
/** Distance between two index positions: a reader starts at most this far before its entry. */
const MARK_BYTES = 256 * 1024;

export interface Segment {
  readonly path: string;
  readonly firstIndex: number;
  readonly salt: number;
  /** Last durable entry; firstIndex - 1 when empty. */
  lastIndex: number;
  /** Offset behind the last durable frame. */
  end: number;
  /** A sparse index: some frames with their offsets, in order. */
  readonly marks: { readonly index: number; readonly offset: number }[];
}

const segmentName = (firstIndex: number): string => `${String(firstIndex).padStart(16, "0")}.seg`;

export function parseSegmentName(name: string): number | null {
  const digits = NAME.exec(name)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** Returns a durable, empty segment. */
export async function createSegment(
  files: Files,
  dir: string,
  firstIndex: number,
): Promise<{ readonly segment: Segment; readonly file: OpenFile }> {
  const path = join(dir, segmentName(firstIndex));
  const temporary = `${path}.tmp`;
  const salt = randomInt(1, 0xffff_ffff);
  const file = await files.open(temporary, "create");
  try {
    await writeFully(file, encodeSegmentHeader(firstIndex, salt), 0);
    await file.datasync();
    await files.rename(temporary, path);
    await files.syncDir(dir);
  } catch (cause) {
    await file.close().catch(() => undefined);
    // Under either name the file is empty, and its index will be used again.
    await files.remove(temporary).catch(() => undefined);
    await files.remove(path).catch(() => undefined);
    throw cause;
  }
  return { segment: emptySegment(path, firstIndex, salt), file };
}

export async function openSegment(files: Files, path: string, firstIndex: number): Promise<Segment> {
  const header = Buffer.alloc(SEGMENT_HEADER_BYTES);
  const file = await files.open(path, "read");
  try {
    const got = await readFully(file, header, 0);
    const whole = got === SEGMENT_HEADER_BYTES && header.subarray(0, 8).equals(MAGIC);
    if (!whole || header.readUInt32LE(18) !== crc32(header.subarray(0, 18))) {
      throw new LogError("corrupt", `${path}: the segment header at offset 0 does not match its checksum`);
    }
    if (header.readUIntLE(8, 6) !== firstIndex) {
      throw new LogError("corrupt", `${path}: named ${firstIndex}, but its header at offset 0 says otherwise`);
    }
    return emptySegment(path, firstIndex, header.readUInt32LE(14));
  } finally {
    await file.close();
  }
}

/** Records a frame that has become durable. */
export function noteFrame(
  segment: Segment,
  frame: { readonly firstIndex: number; readonly count: number },
  bytes: number,
): void {
  const last = segment.marks.at(-1);
  if (last === undefined || segment.end - last.offset >= MARK_BYTES) {
    segment.marks.push({ index: frame.firstIndex, offset: segment.end });
  }
  segment.lastIndex = frame.firstIndex + frame.count - 1;
  segment.end += bytes;
}

/** Returns the offset of the last indexed frame at or before the entry. */
export function offsetBefore(segment: Segment, index: number): number {
  let low = 0;
  let high = segment.marks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((segment.marks[middle]?.index ?? 0) <= index) low = middle + 1;
    else high = middle;
  }
  return segment.marks[low - 1]?.offset ?? SEGMENT_HEADER_BYTES;
}

function emptySegment(path: string, firstIndex: number, salt: number): Segment {
  return { path, firstIndex, salt, lastIndex: firstIndex - 1, end: SEGMENT_HEADER_BYTES, marks: [] };
}

function encodeSegmentHeader(firstIndex: number, salt: number): Buffer {
  const header = Buffer.alloc(SEGMENT_HEADER_BYTES);
  MAGIC.copy(header, 0);
  header.writeUIntLE(firstIndex, 8, 6);
  header.writeUInt32LE(salt, 14);
  header.writeUInt32LE(crc32(header.subarray(0, 18)), 18);
  return header;
}
