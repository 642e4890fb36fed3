// The entries of one append as stored under a key of etcd: a format byte, a header of 28 bytes, then each entry with
// its length. The small loads of a run never split an append.
import type { LogEntry } from "../history.ts";

const INLINE = 1;
const HEADER_BYTES = 28;
const FIRST_INDEX_AT = 12;
const COUNT_AT = 24;
const LENGTH_BYTES = 4;

export function entriesOf(value: Buffer): readonly LogEntry[] {
  if (value[0] !== INLINE) throw new Error(`an append of form ${value[0]} is not expected here`);
  const frame = value.subarray(1);
  const first = frame.readUIntLE(FIRST_INDEX_AT, 6);
  const entries: LogEntry[] = [];
  let at = HEADER_BYTES;
  for (let n = 0; n < frame.readUInt32LE(COUNT_AT); n += 1) {
    const end = at + LENGTH_BYTES + frame.readUInt32LE(at);
    entries.push({ index: first + n, bytes: Uint8Array.from(frame.subarray(at + LENGTH_BYTES, end)) });
    at = end;
  }
  return entries;
}
