// What of a stream goes onto the wire at a time. Several messages are one write: a write costs more than what it says. A
// thousand watchers who are woken together are sent the same events, so what was put together for one of them is kept for
// the next. It is given only to who is sent the very same messages: what a watcher may not see is not among its own.

import type { Message } from "@bufbuild/protobuf";
import { type Item, isSeveral } from "../invoke.ts";
import type { StreamFormat } from "./stream-format.ts";

interface Run {
  readonly contentType: string;
  readonly messages: readonly Message[];
  readonly bytes: Uint8Array;
}

/** Kinds of watchers (filters, formats, places in the sequence) that are served side by side; one more is served as well. */
const KEPT_RUNS = 16;

/** The newest first. */
const kept: Run[] = [];

export function written(format: StreamFormat, item: Item): Uint8Array | string {
  // One alone is mostly a piece of a log: as large as it likes, and one reader's.
  return isSeveral(item) ? runOf(format, item).bytes : format.encode(item);
}

function runOf(format: StreamFormat, messages: readonly Message[]): Run {
  const { contentType } = format;
  const known = kept.find((run) => run.contentType === contentType && areSame(run.messages, messages));
  if (known !== undefined) return known;
  const run = { contentType, messages, bytes: Buffer.concat(messages.map((one) => bytesOf(format.encode(one)))) };
  kept.unshift(run);
  kept.length = Math.min(kept.length, KEPT_RUNS);
  return run;
}

const areSame = (a: readonly Message[], b: readonly Message[]): boolean =>
  a.length === b.length && a.every((message, n) => message === b[n]);

const bytesOf = (part: Uint8Array | string): Uint8Array => (typeof part === "string" ? Buffer.from(part) : part);
