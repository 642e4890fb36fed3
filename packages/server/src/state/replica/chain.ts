// The hashes by which this log is compared with another copy: of recent entries, and of the first entry of each recent
// term. The terms are part of each snapshot, so a restarted server still knows them. Bounded: some hundred kilobytes.

import { LOG_START, type LogAnswer, type LogIndex, type LogPosition, shortHash } from "@lattice/core";

/** Entries with a hash: minutes at thousands of submissions per second, hours to days at normal load. */
const KEPT_ENTRIES = 16_384;
/** Changes of the leader; about 25 kB in a snapshot. */
const KEPT_TERMS = 512;
const HASH_BYTES = 8;

/** Of a term: its first entry, and the hash of that. */
export type TermStart = readonly [from: number, hash: string];

export class ChainRecord {
  readonly #hashes = Buffer.alloc(KEPT_ENTRIES * HASH_BYTES);
  /** Oldest first. */
  #terms: readonly TermStart[];
  #term: number;
  #last: LogPosition;
  /** The oldest entry with a hash. */
  #first: number;

  /** `head`: the last entry before the first append, with the terms up to it. */
  constructor(head: { index: LogIndex; term: number; hash: string; terms?: readonly TermStart[] }) {
    this.#terms = head.terms ?? [];
    this.#term = head.term;
    this.#first = head.index;
    this.#last = LOG_START;
    if (head.index > 0) this.#record(head.index, head.hash);
  }

  append(index: LogIndex, term: number, hash: string): void {
    if (term !== this.#term) this.#terms = [...this.#terms, [index, shortHash(hash)] as const].slice(-KEPT_TERMS);
    this.#term = term;
    this.#record(index, hash);
  }

  terms(): readonly TermStart[] {
    return this.#terms;
  }

  last(): LogPosition {
    return this.#last;
  }

  at(index: number): LogAnswer {
    const keptFrom = this.#terms[0]?.[0] ?? this.#first;
    if (index > this.#last.index) return { ...LOG_START, keptFrom };
    const termHash = this.#terms.findLast(([from]) => from <= index)?.[1] ?? "";
    const isKept = index >= this.#first && index > this.#last.index - KEPT_ENTRIES && index > 0;
    const at = slot(index);
    const hash = isKept ? this.#hashes.toString("hex", at, at + HASH_BYTES) : "";
    return { index, hash, termHash, keptFrom };
  }

  #record(index: number, hash: string): void {
    this.#hashes.write(shortHash(hash), slot(index), "hex");
    this.#last = { index, hash: shortHash(hash), termHash: this.#terms.at(-1)?.[1] ?? "" };
    if (this.#first === 0) this.#first = index;
  }
}

const slot = (index: number): number => (index % KEPT_ENTRIES) * HASH_BYTES;
