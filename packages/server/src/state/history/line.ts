// One record as one line of a segment, and the line that closes a segment. Lines are JSON; the checksum comes first
// and covers the rest of the line as text.

import { crc32 } from "node:zlib";

/** {"crc":"xxxxxxxx", */
const PREFIX_BYTES = 18;
const PREFIX = /^\{"crc":"([0-9a-f]{8})",$/;
const CLOSING = '"closed":';

export interface LineHead {
  readonly kind: "record" | "closing";
  /** The line without its checksum, as JSON text. */
  readonly body: string;
}

export const encodeRecord = (index: number, json: string): string => sealed(`"index":${index},"record":${json}}`);

export const encodeClosing = (records: number, sha256: string): string =>
  sealed(`${CLOSING}{"records":${records},"sha256":"${sha256}"}}`);

/** Returns `null` when the line, without its line break, does not match its checksum. */
export function decodeLine(line: Buffer): LineHead | null {
  const checksum = PREFIX.exec(line.toString("latin1", 0, PREFIX_BYTES))?.[1];
  if (checksum === undefined) return null;
  const rest = line.subarray(PREFIX_BYTES);
  if (hex(crc32(rest)) !== checksum) return null;
  const body = rest.toString("utf8");
  return { kind: body.startsWith(CLOSING) ? "closing" : "record", body: `{${body}` };
}

export function recordOf(head: LineHead): { readonly index: number; readonly json: string } {
  const comma = head.body.indexOf(",");
  const index = Number(head.body.slice('{"index":'.length, comma));
  return { index, json: head.body.slice(comma + ',"record":'.length, -1) };
}

export function closingOf(head: LineHead): { readonly records: number; readonly sha256: string } {
  const value = JSON.parse(head.body) as { readonly closed: { readonly records: number; readonly sha256: string } };
  return value.closed;
}

const hex = (checksum: number): string => checksum.toString(16).padStart(8, "0");

const sealed = (rest: string): string => `{"crc":"${hex(crc32(rest))}",${rest}\n`;
