// A table of immutable records by key, in order of insertion, that remembers which records
// changed since its digest was last asked for. The digest is the sum of the records' hashes, so
// it does not depend on their order and costs only what changed.

import { canonical } from "../canonical.ts";
import { invariant } from "../invariant.ts";

/** Hex SHA-256 of a text; handed in, because the pure core has no hash function. */
export type HashText = (text: string) => string;

export interface Table<K extends string, V> {
  readonly size: number;
  /** Records whose hash the next digest has to work out. */
  readonly dirty: number;
  get(key: K): V | undefined;
  has(key: K): boolean;
  set(key: K, record: V): void;
  delete(key: K): void;
  keys(): Iterable<K>;
  values(): Iterable<V>;
  digest(hash: HashText): string;
  /** Hashes up to `limit` changed records ahead of the next digest; answers how many it did. */
  warm(hash: HashText, limit: number): number;
}

/** 256 bits as words: each is summed on its own, modulo 2^32. */
const WORDS = 8;

/** `changed` is told the key of every record that is set or deleted. */
export function createTable<K extends string, V>(name: string, changed: (key: K) => void = ignore): Table<K, V> {
  const records = new Map<K, V>();
  const dirty = new Set<K>();
  const hashed = new Map<K, string>();
  const sum = new Uint32Array(WORDS);
  /** The sum as text, until it changes. */
  let text: string | null = null;

  function refresh(key: K, hash: HashText): void {
    text = null;
    const old = hashed.get(key);
    if (old !== undefined) addHash(sum, old, -1);
    const record = records.get(key);
    if (record === undefined) {
      hashed.delete(key);
      return;
    }
    const fresh = hash(`${name} ${key} ${canonical(record)}`);
    addHash(sum, fresh, 1);
    hashed.set(key, fresh);
  }

  return {
    get size() {
      return records.size;
    },
    get dirty() {
      return dirty.size;
    },
    get: (key) => records.get(key),
    has: (key) => records.has(key),
    set(key, record) {
      records.set(key, record);
      dirty.add(key);
      changed(key);
    },
    delete(key) {
      records.delete(key);
      changed(key);
      // A record that came and went between two digests leaves nothing to subtract.
      if (hashed.has(key)) dirty.add(key);
      else dirty.delete(key);
    },
    keys: () => records.keys(),
    values: () => records.values(),
    warm(hash, limit) {
      let done = 0;
      for (const key of dirty) {
        if (done >= limit) break;
        refresh(key, hash);
        dirty.delete(key);
        done += 1;
      }
      return done;
    },
    digest(hash) {
      for (const key of dirty) refresh(key, hash);
      dirty.clear();
      text ??= Array.from(sum, (word) => word.toString(16).padStart(8, "0")).join("");
      return text;
    },
  };
}

const ignore = (): void => {};

function addHash(sum: Uint32Array, hex: string, sign: 1 | -1): void {
  invariant(hex.length === WORDS * 8, `expected a hash of ${WORDS * 8} hex digits, got ${hex.length}`);
  for (let i = 0; i < WORDS; i += 1) {
    let word = 0;
    for (let at = i * 8; at < i * 8 + 8; at += 1) word = (word << 4) | digit(hex.charCodeAt(at));
    sum[i] = (sum[i] ?? 0) + sign * word;
  }
}

/** 0 to 9 and a to f, of a hash in small letters. */
const digit = (code: number): number => (code < 58 ? code - 48 : code - 87);
