// Encodes stream items for the socket. Several messages become one write, since a write costs more than a message.
// Watchers that receive the same messages share the encoded bytes: a thousand watchers wake up together.

import type { Message } from "@bufbuild/protobuf";
import { type Item, isSeveral } from "../invoke/invoke.ts";
import type { StreamFormat } from "./stream-format.ts";

interface Run {
  readonly contentType: string;
  readonly messages: readonly Message[];
  readonly bytes: Uint8Array;
}

/** Enough for the combinations of filter, format and position that are served at the same time. */
const MAX_CACHED = 16;

/** Newest first. */
const cached: Run[] = [];

export function encodeItem(format: StreamFormat, item: Item): Uint8Array | string {
  // A single message is usually a chunk of a log with one reader, so it is not cached.
  return isSeveral(item) ? runOf(format, item).bytes : format.encode(item);
}

function runOf(format: StreamFormat, messages: readonly Message[]): Run {
  const { contentType } = format;
  const known = cached.find((run) => run.contentType === contentType && areSame(run.messages, messages));
  if (known !== undefined) return known;
  const run = { contentType, messages, bytes: Buffer.concat(messages.map((one) => bytesOf(format.encode(one)))) };
  cached.unshift(run);
  cached.length = Math.min(cached.length, MAX_CACHED);
  return run;
}

const areSame = (a: readonly Message[], b: readonly Message[]): boolean =>
  a.length === b.length && a.every((message, n) => message === b[n]);

const bytesOf = (part: Uint8Array | string): Uint8Array => (typeof part === "string" ? Buffer.from(part) : part);
