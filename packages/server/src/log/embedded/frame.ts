// The format of one append on disk: one frame with one checksum for all its entries, so that a batch is complete or
// absent. The checksum starts from a random number of the segment, so that bytes inside an entry never look like a
// frame.
//
//   0  u32 magic        4  u32 length of the body     8  u32 checksum of all that follows and the length
//  12  u48 first index 18  u48 term                  24  u32 number of entries
//  28  body: for each entry u32 length, bytes
//
// crc32 and not crc32c: zlib has it in native code, at several GB/s, in every Node we support.

import { crc32 } from "node:zlib";
import { logIndex, term } from "@lattice/core";
import type { StoredEntry } from "../contract/replicated-log.ts";

export const FRAME_HEADER_BYTES = 28;
/** Largest body. A greater length is damage, and must not lead to a large allocation. */
export const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** Neither valid UTF-8 nor zeros, so that it is rare in stored data. */
export const FRAME_MAGIC = Buffer.from([0xf5, 0x4c, 0xfa, 0xc3]);
const MAGIC = FRAME_MAGIC.readUInt32LE(0);

export interface FrameHeader {
  readonly bodyBytes: number;
  readonly checksum: number;
  readonly firstIndex: number;
  readonly term: number;
  readonly count: number;
}

export const bodyBytesOf = (entries: readonly StoredEntry[]): number =>
  entries.reduce((sum, entry) => sum + 4 + entry.bytes.byteLength, 0);

/** Writes the frame at the start of `into`, which must be large enough. */
export function encodeFrame(into: Buffer, entries: readonly StoredEntry[], salt: number): void {
  const first = entries[0];
  if (first === undefined) throw new RangeError("a frame holds at least one entry");
  let at = FRAME_HEADER_BYTES;
  for (const entry of entries) {
    at = into.writeUInt32LE(entry.bytes.byteLength, at);
    into.set(entry.bytes, at);
    at += entry.bytes.byteLength;
  }
  into.writeUInt32LE(MAGIC, 0);
  into.writeUInt32LE(at - FRAME_HEADER_BYTES, 4);
  into.writeUIntLE(first.index, 12, 6);
  into.writeUIntLE(first.term, 18, 6);
  into.writeUInt32LE(entries.length, 24);
  into.writeUInt32LE(checksumOf(into.subarray(0, at), salt), 8);
}

/** Returns `null` when there is no frame header at this offset. */
export function decodeHeader(from: Buffer, at: number): FrameHeader | null {
  if (from.length - at < FRAME_HEADER_BYTES || from.readUInt32LE(at) !== MAGIC) return null;
  const bodyBytes = from.readUInt32LE(at + 4);
  const count = from.readUInt32LE(at + 24);
  if (bodyBytes > MAX_BODY_BYTES || count === 0 || count * 4 > bodyBytes) return null;
  return {
    bodyBytes,
    checksum: from.readUInt32LE(at + 8),
    firstIndex: from.readUIntLE(at + 12, 6),
    term: from.readUIntLE(at + 18, 6),
    count,
  };
}

/** Returns whether the frame, header and body, matches its checksum. */
export const frameMatches = (frame: Buffer, header: FrameHeader, salt: number): boolean =>
  frame.length === FRAME_HEADER_BYTES + header.bodyBytes && checksumOf(frame, salt) === header.checksum;

/** Returns the entries of a valid frame as copies: the buffer may be reused. */
export function decodeEntries(frame: Buffer, header: FrameHeader): readonly StoredEntry[] {
  const entries: StoredEntry[] = [];
  let at = FRAME_HEADER_BYTES;
  for (let n = 0; n < header.count; n += 1) {
    const length = frame.readUInt32LE(at);
    entries.push({
      index: logIndex(header.firstIndex + n),
      term: term(header.term),
      bytes: Uint8Array.from(frame.subarray(at + 4, at + 4 + length)),
    });
    at += 4 + length;
  }
  return entries;
}

function checksumOf(frame: Buffer, salt: number): number {
  return crc32(frame.subarray(12), crc32(frame.subarray(4, 8), salt));
}
