// Reads entries that are no longer among the newest, in pages of a few megabytes. An index in the middle of an append
// is found through the append that contains it.

import {
  type KeyValue,
  RangeRequest_SortOrder as Order,
  RangeRequest_SortTarget as SortBy,
} from "../../../gen/etcdserverpb/rpc_pb.ts";
import { LogError, type StoredEntry } from "../contract/replicated-log.ts";
import { asLogError } from "./as-log-error.ts";
import type { EtcdClient } from "./client/client.ts";
import type { Keys } from "./keys.ts";
import { decodeFrame, decodeRecord, type LogRecord, lastIndexOf } from "./record.ts";

/** Target size of a page; the number of keys follows from the page before. */
const PAGE_BYTES = 4 * 1024 * 1024;
const MAX_PAGE_KEYS = 1024;
const FIRST_PAGE_KEYS = 64;
/** Parts are a megabyte each. */
const PARTS_PER_PAGE = 4;

export interface Fetcher {
  /** At least one entry, the first of them at `from`. Throws `truncated` when it is no longer kept. */
  fetch(from: number, signal?: AbortSignal): Promise<readonly StoredEntry[]>;
}

export function createFetcher(client: EtcdClient, keys: Keys): Fetcher {
  let pageKeys = FIRST_PAGE_KEYS;

  const page = async (from: number, signal?: AbortSignal): Promise<readonly KeyValue[]> => {
    const request = { key: keys.log(from), rangeEnd: keys.logEnd, limit: BigInt(pageKeys) };
    const { kvs } = await client.range(request, signal);
    const bytes = kvs.reduce((sum, kv) => sum + kv.value.byteLength, 0);
    if (kvs.length > 0) {
      pageKeys = Math.max(1, Math.min(MAX_PAGE_KEYS, Math.floor((PAGE_BYTES * kvs.length) / Math.max(1, bytes))));
    }
    return kvs;
  };

  /** The append that `from` is in the middle of. */
  const around = async (from: number, signal?: AbortSignal): Promise<KeyValue | undefined> => {
    const request = {
      key: keys.log(0),
      rangeEnd: keys.log(from),
      limit: 1n,
      sortOrder: Order.DESCEND,
      sortTarget: SortBy.KEY,
    };
    return (await client.range(request, signal)).kvs[0];
  };

  const entriesOf = async (kv: KeyValue, signal?: AbortSignal): Promise<readonly StoredEntry[]> => {
    const index = indexOf(keys, kv);
    const record = decodeRecord(index, kv.value);
    return record.kind === "inline" ? record.entries : gather(record, signal);
  };

  const gather = async (
    record: Extract<LogRecord, { kind: "parts" }>,
    signal?: AbortSignal,
  ): Promise<readonly StoredEntry[]> => {
    const pieces: Uint8Array[] = [];
    const { rangeEnd } = keys.partsOf(record.first, record.id);
    while (pieces.length < record.parts) {
      const key = keys.part(record.first, record.id, pieces.length);
      const { kvs } = await client.range({ key, rangeEnd, limit: BigInt(PARTS_PER_PAGE) }, signal);
      if (kvs.length === 0) throw gone(record.first);
      for (const kv of kvs) pieces.push(kv.value);
    }
    return decodeFrame(record.first, Buffer.concat(pieces));
  };

  const whyNot = async (from: number, signal?: AbortSignal): Promise<LogError> => {
    const { kvs } = await client.range({ key: keys.first }, signal);
    const first = kvs[0] === undefined ? 1 : Number(Buffer.from(kvs[0].value).toString("utf8"));
    return from < first ? gone(from) : new LogError("corrupt", `entry ${from} is missing in etcd`);
  };

  return {
    async fetch(from, signal) {
      try {
        const kvs = await page(from, signal);
        const first = kvs[0];
        if (first !== undefined && indexOf(keys, first) === from) return await consecutive(kvs, from, signal);
        const before = await around(from, signal);
        if (
          before !== undefined &&
          lastIndexOf(indexOf(keys, before), decodeRecord(indexOf(keys, before), before.value)) >= from
        ) {
          return (await entriesOf(before, signal)).filter((entry) => entry.index >= from);
        }
        throw await whyNot(from, signal);
      } catch (cause) {
        throw asLogError(cause, `reading entry ${from}`);
      }
    },
  };

  /** Stops at a gap: the entries behind it are fetched, or found missing, when the reader gets there. */
  async function consecutive(
    kvs: readonly KeyValue[],
    from: number,
    signal?: AbortSignal,
  ): Promise<readonly StoredEntry[]> {
    const all: StoredEntry[] = [];
    for (const kv of kvs) {
      if (indexOf(keys, kv) !== from + all.length) break;
      // An append in parts is a page of its own.
      if (all.length > 0 && decodeRecord(indexOf(keys, kv), kv.value).kind === "parts") break;
      all.push(...(await entriesOf(kv, signal)));
    }
    return all;
  }
}

function indexOf(keys: Keys, kv: KeyValue): number {
  const key = keys.parse(kv.key);
  if (key.kind !== "log") throw new LogError("corrupt", `a key in the log is not an index: ${Buffer.from(kv.key)}`);
  return key.index;
}

const gone = (index: number): LogError => new LogError("truncated", `entry ${index} is gone`);
