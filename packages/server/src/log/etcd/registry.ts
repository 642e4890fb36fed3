// Registers this server in etcd under a lease. The same lease marks snapshots being written, so that the incomplete
// ones of a dead server can be recognized.

import { setTimeout as sleep } from "node:timers/promises";
import { put } from "./append.ts";
import type { EtcdClient } from "./client/client.ts";
import type { Keys } from "./keys.ts";
import { type KeptLease, keepLease } from "./lease.ts";

/** How long a dead server is still listed. Separate from the shorter lease of leadership. */
const SESSION_SECONDS = 10;
const TIMEOUT_MS = 2_000;
const RETRY_MS = 500;

export interface Registry {
  /** The lease of this server; `null` while etcd cannot be reached. */
  lease(): bigint | null;
  close(): Promise<void>;
}

export async function startRegistry(
  client: EtcdClient,
  keys: Keys,
  server: { readonly name: string; readonly announcement: string; readonly peer?: string | null },
): Promise<Registry> {
  const stop = new AbortController();
  let lease: KeptLease | null = null;

  const register = async (): Promise<KeptLease> => {
    const kept = await keepLease(client, SESSION_SECONDS);
    try {
      await client.txn(
        {
          success: [
            put(keys.server(server.name), Buffer.from(server.announcement), kept.id),
            // Not bound to the lease, so that servers that are down are listed too.
            ...(typeof server.peer === "string" ? [put(keys.member(server.name), Buffer.from(server.peer))] : []),
          ],
        },
        TIMEOUT_MS,
      );
      return kept;
    } catch (cause) {
      void kept.end();
      throw cause;
    }
  };
  const stay = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      if (lease?.holds() !== true) lease = await register().catch(() => null);
      await sleep(RETRY_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  };

  lease = await register();
  const staying = stay();
  return {
    lease: () => (lease?.holds() === true ? lease.id : null),
    async close() {
      stop.abort();
      await staying;
      await lease?.end();
    },
  };
}
