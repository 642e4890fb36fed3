// Entries for tests of the log, and reading them back.

import { logIndex, type Term } from "@lattice/core";
import type { Leadership, ReplicatedLog, StoredEntry } from "../../src/log/contract/replicated-log.ts";

export const never = new AbortController().signal;

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
export const textOf = (entry: StoredEntry): string => new TextDecoder().decode(entry.bytes);

/** Entries from `first` on with these texts. */
export const entries = (term: Term, first: number, ...texts: readonly string[]): readonly StoredEntry[] =>
  texts.map((text, n) => ({ index: logIndex(first + n), term, bytes: bytesOf(text) }));

export const lead = (log: ReplicatedLog, candidate = "server-1"): Promise<Leadership> => log.campaign(candidate, never);

/** Appends entries one by one, numbered texts, from first to last. */
export async function fill(
  log: ReplicatedLog,
  leadership: Leadership,
  first: number,
  last: number,
  pad = 0,
): Promise<void> {
  for (let index = first; index <= last; index += 1) {
    await log.append(leadership, entries(leadership.term, index, `entry ${index}${"x".repeat(pad)}`));
  }
}

/** Reads from `from` until entry `last` has come. */
export async function readThrough(log: ReplicatedLog, from: number, last: number): Promise<readonly StoredEntry[]> {
  const stop = new AbortController();
  const all: StoredEntry[] = [];
  for await (const batch of log.read(logIndex(from), stop.signal)) {
    all.push(...batch);
    if ((all.at(-1)?.index ?? 0) >= last) break;
  }
  return all;
}

export async function linesOf(lines: AsyncIterable<string>): Promise<readonly string[]> {
  const all: string[] = [];
  for await (const line of lines) all.push(line);
  return all;
}
