// Keeps the metadata current: reads it, then watches the log and the metadata from the next revision on. Whatever
// ends the watch (a stopped member, a compaction, a broken network) leads to another read and watch, on another
// member if necessary. Nothing can be missed: entries are found by their keys, and the watch only announces them.

import { setTimeout as sleep } from "node:timers/promises";
import { Event_EventType, type WatchResponse } from "../../../gen/etcdserverpb/rpc_pb.ts";
import type { EtcdClient } from "./client/client.ts";
import type { Keys } from "./keys.ts";
import { headOf, type LogMetadata } from "./metadata.ts";
import type { StoreGuard } from "./store-guard.ts";

/** Interval of progress requests on a silent watch, and the time after which it is given up. */
const ASK_MS = 1_000;
const SILENT_MS = 3_000;
const RETRY_MS = 100;

interface TailOptions {
  readonly client: EtcdClient;
  readonly keys: Keys;
  readonly metadata: LogMetadata;
  readonly guard: StoreGuard;
  readonly signal: AbortSignal;
  /** `null` while connected; otherwise the reason. */
  onState(problem: string | null): void;
}

/** Resolves when the metadata is complete for the first time; the watch continues until aborted. */
export async function startTail(options: TailOptions): Promise<{ readonly ended: Promise<void> }> {
  const revision = await readFacts(options);
  options.onState(null);
  return { ended: follow(options, revision) };
}

async function follow(options: TailOptions, from: bigint): Promise<void> {
  const { signal, onState } = options;
  let revision: bigint | null = from;
  while (!signal.aborted) {
    try {
      revision ??= await readFacts(options);
      onState(null);
      await watch(options, revision + 1n);
    } catch (cause) {
      if (signal.aborted) return;
      onState(cause instanceof Error ? cause.message : String(cause));
      await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
    revision = null;
  }
}

async function readFacts({ client, keys, metadata, guard, signal }: TailOptions): Promise<bigint> {
  const known = metadata.lastIndex();
  const { kvs, header } = await client.range({ ...keys.meta }, signal);
  const revision = header?.revision ?? 0n;
  guard.endsAt(headOf(kvs.find(({ key }) => keys.head.equals(key))), known);
  metadata.replace(kvs, revision);
  return revision;
}

/** Ends normally when the revision is compacted, with an error when the member stops answering. */
function watch({ client, keys, metadata, guard, signal }: TailOptions, startRevision: bigint): Promise<void> {
  const { stream, endpoint, blame } = client.watch();
  return new Promise((resolve, reject) => {
    let heardAt = performance.now();
    let ended = false;
    const end = (cause: Error | null): void => {
      // Cancelling causes an error, which is not the member's fault.
      if (ended) return;
      ended = true;
      clearInterval(timer);
      signal.removeEventListener("abort", aborted);
      stream.cancel();
      if (cause === null) {
        resolve();
      } else {
        blame();
        reject(cause);
      }
    };
    const aborted = (): void => end(null);
    const timer = setInterval(() => {
      const silentMs = performance.now() - heardAt;
      if (silentMs > SILENT_MS) return end(new Error(`etcd at ${endpoint}: silent for ${Math.round(silentMs)} ms`));
      stream.write({ request: { case: "progressRequest", value: {} } });
    }, ASK_MS);
    signal.addEventListener("abort", aborted, { once: true });
    stream.on("error", (cause: Error) => end(cause));
    stream.on("end", () => end(new Error(`etcd at ${endpoint}: the watch ended`)));
    stream.on("data", (answer: WatchResponse) => {
      heardAt = performance.now();
      if (answer.canceled) {
        const compacted = answer.compactRevision > 0n;
        return end(compacted ? null : new Error(`etcd at ${endpoint}: watch cancelled: ${answer.cancelReason}`));
      }
      try {
        if (answer.header !== undefined) guard.answered(answer.header.clusterId);
      } catch (cause) {
        return end(cause as Error);
      }
      take(metadata, answer);
    });
    stream.write({
      request: { case: "createRequest", value: { ...keys.watched, startRevision, fragment: true } },
    });
    if (signal.aborted) aborted();
  });
}

function take(metadata: LogMetadata, answer: WatchResponse): void {
  for (const { type, kv } of answer.events) {
    if (kv === undefined) continue;
    if (type === Event_EventType.DELETE) metadata.removed(kv.key, kv.modRevision);
    else metadata.put(kv);
  }
}
