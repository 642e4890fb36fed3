// A table of immutable records by key, in insertion order, that tracks changes since its last digest. The digest is the
// sum of the record hashes: it does not depend on their order and costs only the changed records.

import { canonical } from "../base/canonical.ts";
import { createHashSum } from "./hash-sum.ts";

/** Returns the SHA-256 of a text in hex; passed in, because the core has no hash function. */
export type HashText = (text: string) => string;

export interface Table<K extends string, V> {
  readonly size: number;
  /** Number of records that the next digest must hash. */
  readonly dirty: number;
  get(key: K): V | undefined;
  has(key: K): boolean;
  set(key: K, record: V): void;
  /** Sets many records. */
  setAll(keys: readonly K[], records: readonly V[]): void;
  delete(key: K): void;
  keys(): Iterable<K>;
  values(): Iterable<V>;
  digest(hash: HashText): string;
  entries(): Iterable<readonly [K, V]>;
  /** Returns the hash of a record that is or was in the table; a current one is cached for the next digest. */
  hashFor(key: K, record: V, hash: HashText): string;
  /** Hashes up to `limit` changed records ahead of the next digest; returns their number. */
  warm(hash: HashText, limit: number): number;
}

/** `changed` receives the key of every record that is set or deleted; `allChanged`, where given, many keys at once. */
export function createTable<K extends string, V>(
  name: string,
  changed: (key: K) => void = ignore,
  allChanged: (keys: readonly K[]) => void = (keys) => keys.forEach(changed),
): Table<K, V> {
  const records = new Map<K, V>();
  const dirty = new Set<K>();
  const hashed = new Map<K, string>();
  const sum = createHashSum();

  const hashOf = (key: K, record: V, hash: HashText): string => hash(`${name} ${key} ${canonical(record)}`);

  function refresh(key: K, hash: HashText): void {
    const old = hashed.get(key);
    if (old !== undefined) sum.take(old);
    const record = records.get(key);
    if (record === undefined) {
      hashed.delete(key);
      return;
    }
    const fresh = hashOf(key, record, hash);
    sum.add(fresh);
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
    setAll(keys, many) {
      for (let i = 0; i < keys.length; i += 1) {
        const key = keys[i] as K;
        records.set(key, many[i] as V);
        dirty.add(key);
      }
      allChanged(keys);
    },
    delete(key) {
      records.delete(key);
      changed(key);
      // A record that was added and deleted between two digests has no hash to subtract.
      if (hashed.has(key)) dirty.add(key);
      else dirty.delete(key);
    },
    keys: () => records.keys(),
    values: () => records.values(),
    entries: () => records.entries(),
    hashFor(key, record, hash) {
      if (records.get(key) !== record) return hashOf(key, record, hash);
      if (dirty.delete(key)) refresh(key, hash);
      return hashed.get(key) ?? hashOf(key, record, hash);
    },
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
      return sum.text();
    },
  };
}

const ignore = (): void => {};
