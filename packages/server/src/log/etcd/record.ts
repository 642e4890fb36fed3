// The value of one key of the log: the entries of one append as a checksummed frame, or, when that is too large for
// one request, a list of its parts. The parts are written first, so every reader of the list can read them all.

import { LogError, type StoredEntry } from "../contract/replicated-log.ts";
import {
  bodyBytesOf,
  decodeEntries,
  decodeHeader,
  encodeFrame,
  FRAME_HEADER_BYTES,
  frameMatches,
} from "../embedded/frame.ts";

/** etcd accepts 1.5 MiB per request by default; the rest is room for keys and compares. */
export const PIECE_BYTES = 1024 * 1024;

const INLINE = 1;
const IN_PARTS = 2;
/** Salt of the checksum; any fixed number will do, because the key identifies the value. */
const SALT = 0x6c617474;

export type LogRecord =
  | { readonly kind: "inline"; readonly entries: readonly StoredEntry[] }
  | {
      readonly kind: "parts";
      readonly first: number;
      readonly count: number;
      readonly id: string;
      readonly parts: number;
    };

export const frameOf = (entries: readonly StoredEntry[]): Buffer => {
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + bodyBytesOf(entries));
  encodeFrame(frame, entries, SALT);
  return frame;
};

export const inlineRecord = (frame: Buffer): Buffer => Buffer.concat([Buffer.from([INLINE]), frame]);

export const partsRecord = (parts: Omit<Extract<LogRecord, { kind: "parts" }>, "kind">): Buffer =>
  Buffer.concat([Buffer.from([IN_PARTS]), Buffer.from(JSON.stringify(parts))]);

export const piecesOf = (bytes: Buffer): readonly Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / PIECE_BYTES) }, (_, n) =>
    bytes.subarray(n * PIECE_BYTES, (n + 1) * PIECE_BYTES),
  );

/** Throws `corrupt` when the value is not a record of this index. */
export function decodeRecord(index: number, value: Uint8Array): LogRecord {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (bytes[0] === INLINE) return { kind: "inline", entries: decodeFrame(index, bytes.subarray(1)) };
  if (bytes[0] !== IN_PARTS) throw corrupt(index, "it has an unknown form");
  const { first, count, id, parts } = JSON.parse(bytes.toString("utf8", 1)) as Record<string, unknown>;
  if (first !== index || typeof count !== "number" || typeof id !== "string" || typeof parts !== "number") {
    throw corrupt(index, "its list of parts is damaged");
  }
  return { kind: "parts", first: index, count, id, parts };
}

export function decodeFrame(index: number, frame: Buffer): readonly StoredEntry[] {
  const header = decodeHeader(frame, 0);
  if (header === null || header.firstIndex !== index) throw corrupt(index, "its header is damaged");
  if (!frameMatches(frame, header, SALT)) throw corrupt(index, "its checksum does not match");
  return decodeEntries(frame, header);
}

export const lastIndexOf = (index: number, record: LogRecord): number =>
  index + (record.kind === "inline" ? record.entries.length : record.count) - 1;

const corrupt = (index: number, why: string): LogError => new LogError("corrupt", `entry ${index} in etcd: ${why}`);
