// A table of immutable records by key, in order of insertion, that remembers which records
// changed since its digest was last asked for. The digest is the sum of the records' hashes, so
// it does not depend on their order and costs only what changed.

import { canonical } from "../base/canonical.ts";
import { createHashSum } from "./hash-sum.ts";

/** Hex SHA-256 of a text; handed in, because the pure core has no hash function. */
export type HashText = (text: string) => string;

export interface Table<K extends string, V> {
  readonly size: number;
  /** Records whose hash the next digest has to work out. */
  readonly dirty: number;
  get(key: K): V | undefined;
  has(key: K): boolean;
  set(key: K, record: V): void;
  /** Many at once, each at the place of its key. */
  setAll(keys: readonly K[], records: readonly V[]): void;
  delete(key: K): void;
  keys(): Iterable<K>;
  values(): Iterable<V>;
  digest(hash: HashText): string;
  entries(): Iterable<readonly [K, V]>;
  /** Of a record that is, or was, kept under this key; when it still is, the next digest has it for nothing. */
  hashFor(key: K, record: V, hash: HashText): string;
  /** Hashes up to `limit` changed records ahead of the next digest; answers how many it did. */
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
      // A record that came and went between two digests leaves nothing to subtract.
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
