// The messages between an agent and lattice-files: a length of four bytes, then fields that end with a zero byte.

import type { Readable } from "node:stream";

/** The limits of the program. */
const MAX_REQUEST_BYTES = 256 * 1024;
const MAX_FIELDS = 4_096;
/** Longer replies mean that this is not our program. */
const MAX_REPLY_BYTES = 4 * 1024 * 1024;

/** Returns the problem of a request that the program would refuse. */
export function encodeRequest(fields: readonly string[]): Buffer | string {
  if (fields.some((field) => field.includes("\0"))) return "a path has a zero byte";
  const payload = Buffer.from(fields.map((field) => `${field}\0`).join(""));
  if (payload.length > MAX_REQUEST_BYTES || fields.length > MAX_FIELDS) return "the request is too long";
  const length = Buffer.alloc(4);
  length.writeUInt32LE(payload.length);
  return Buffer.concat([length, payload]);
}

/** The first fields of a reply; each ends with a zero byte, the last one possibly with the reply. */
export function fieldsOf(bytes: Buffer, count: number): readonly string[] {
  const fields: string[] = [];
  for (let at = 0; fields.length < count && at <= bytes.length; ) {
    const end = bytes.indexOf(0, at);
    fields.push(bytes.subarray(at, end < 0 ? bytes.length : end).toString());
    if (end < 0) break;
    at = end + 1;
  }
  return fields;
}

/** Splits the stream into replies. */
export function readReplies(stream: Readable, take: (reply: Buffer) => void, refuse: () => void): void {
  let rest: Buffer = Buffer.alloc(0);
  stream.on("data", (bytes: Buffer) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    while (rest.length >= 4) {
      const length = rest.readUInt32LE(0);
      if (length > MAX_REPLY_BYTES) return refuse();
      if (rest.length < 4 + length) return;
      take(rest.subarray(4, 4 + length));
      rest = rest.subarray(4 + length);
    }
  });
}
