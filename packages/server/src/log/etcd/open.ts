// The log in etcd: three or five servers share one log. Any handle reads and takes snapshots; one of them leads, and only its
// appends commit. etcd tolerates the loss of a minority of its members; without a majority nothing is written and readers wait.

import { setTimeout as sleep } from "node:timers/promises";
import { asLogError } from "./as-log-error.ts";
import { createEtcdClient } from "./client/client.ts";
import { EtcdLog } from "./handle.ts";
import { keysUnder } from "./keys.ts";
import { LogMetadata } from "./metadata.ts";
import type { EtcdLogOptions } from "./options.ts";
import { type Registry, startRegistry } from "./registry.ts";
import { createStoreGuard } from "./store-guard.ts";
import { startTail } from "./tail.ts";

const OPEN_TIMEOUT_MS = 30_000;
const RETRY_MS = 200;

export async function openEtcdLog(options: EtcdLogOptions): Promise<EtcdLog> {
  const keys = keysUnder(options.prefix);
  const metadata = new LogMetadata(keys, options.onWarning ?? (() => undefined));
  const guard = createStoreGuard((error) => {
    options.onLost?.(error);
    metadata.changes.notify();
  });
  const { endpoints, tls = null } = options;
  const client = createEtcdClient({ endpoints, tls, onAnswer: guard.answered });
  const closing = new AbortController();
  let problem: string | null = null;
  const onState = (state: string | null): void => {
    problem = state;
  };
  const until = performance.now() + (options.openTimeoutMs ?? OPEN_TIMEOUT_MS);
  for (;;) {
    let registry: Registry | null = null;
    try {
      const { name, announcement = "", peer = null } = options;
      registry = await startRegistry(client, keys, { name, announcement, peer });
      const tail = await startTail({ client, keys, metadata, guard, signal: closing.signal, onState });
      const opened = {
        client,
        keys,
        metadata,
        guard,
        registry,
        closing,
        tailEnded: tail.ended,
        connection: () => problem,
      };
      return await EtcdLog.serve(opened, options);
    } catch (cause) {
      await registry?.close();
      if (performance.now() + RETRY_MS >= until) {
        closing.abort();
        client.close();
        throw asLogError(cause, `opening the log in etcd (${endpoints.join(", ")})`);
      }
      await sleep(RETRY_MS);
    }
  }
}
