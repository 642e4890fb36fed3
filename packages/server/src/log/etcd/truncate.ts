// Drops the entries before an index. The new first index is written first, so that no reader starts on entries about
// to be deleted; then the keys are deleted in batches, so that etcd stays responsive. The remains of a crash are
// deleted by the next truncation.

import {
  RangeRequest_SortOrder as Order,
  RangeRequest_SortTarget as SortBy,
} from "../../../gen/etcdserverpb/rpc_pb.ts";
import { absent, holds, put, remove } from "./append.ts";
import type { EtcdClient } from "./client/client.ts";
import type { Keys } from "./keys.ts";
import { decodeRecord, lastIndexOf } from "./record.ts";

const TIMEOUT_MS = 10_000;
/** Keys deleted by one request. */
const SLICE = 1_000n;

/** Returns the first index afterwards. Whole appends are dropped; one that reaches beyond `upTo` stays. */
export async function truncateInEtcd(client: EtcdClient, keys: Keys, upTo: number): Promise<number> {
  const [current, wanted] = await Promise.all([firstKept(client, keys), beginAfter(client, keys, upTo)]);
  const first = Math.max(current ?? 1, wanted);
  if (current !== first) {
    const before = current === null ? absent(keys.first) : holds(keys.first, Buffer.from(String(current)));
    const request = { compare: [before], success: [put(keys.first, Buffer.from(String(first)))] };
    const answer = await client.txn(request, TIMEOUT_MS);
    // Another server truncates at this moment and does the rest.
    if (!answer.succeeded) return (await firstKept(client, keys)) ?? 1;
  }
  await removeBefore(client, keys, first);
  return first;
}

async function firstKept(client: EtcdClient, keys: Keys): Promise<number | null> {
  const kv = (await client.range({ key: keys.first })).kvs[0];
  return kv === undefined ? null : Number(Buffer.from(kv.value).toString("utf8"));
}

/** Returns the first index of a log without the appends that end at or before `upTo`. */
async function beginAfter(client: EtcdClient, keys: Keys, upTo: number): Promise<number> {
  const { kvs } = await client.range({
    key: keys.log(0),
    rangeEnd: keys.log(upTo + 1),
    limit: 1n,
    sortOrder: Order.DESCEND,
    sortTarget: SortBy.KEY,
  });
  const kv = kvs[0];
  const key = kv === undefined ? null : keys.parse(kv.key);
  if (kv === undefined || key?.kind !== "log") return 1;
  const last = lastIndexOf(key.index, decodeRecord(key.index, kv.value));
  return last <= upTo ? last + 1 : key.index;
}

async function removeBefore(client: EtcdClient, keys: Keys, first: number): Promise<void> {
  for (;;) {
    const range = { key: keys.log(0), rangeEnd: keys.log(first) };
    const { kvs, more } = await client.range({ ...range, limit: SLICE, keysOnly: true });
    const last = kvs.at(-1);
    if (last === undefined) break;
    const rangeEnd = Buffer.concat([last.key, Buffer.from([0])]);
    await client.txn({ success: [remove({ key: range.key, rangeEnd })] }, TIMEOUT_MS);
    if (!more) break;
  }
  await client.txn({ success: [remove(keys.partsBefore(first))] }, TIMEOUT_MS);
}
