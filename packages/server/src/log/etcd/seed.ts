// Writes a snapshot into an etcd without a log, so that a log starts right after it: how a backup is restored into a
// new cluster. An existing log is never touched.

import { setTimeout as sleep } from "node:timers/promises";
import type { LogIndex, Term } from "@lattice/core";
import { LogError, type SnapshotInfo } from "../contract/replicated-log.ts";
import { absent, put } from "./append.ts";
import { asLogError } from "./as-log-error.ts";
import { createEtcdClient } from "./client/client.ts";
import { type Keys, keysUnder } from "./keys.ts";
import { LogMetadata } from "./metadata.ts";
import type { EtcdLogOptions } from "./options.ts";
import { startRegistry } from "./registry.ts";
import { Snapshots } from "./snapshots.ts";

const TIMEOUT_MS = 10_000;
const RETRY_MS = 200;

type Place = Pick<EtcdLogOptions, "endpoints" | "tls" | "prefix" | "name">;

/** Throws `wrong_index` when there is a log. Waits for an etcd that is still starting. */
export async function refuseEtcdLog(options: Place): Promise<void> {
  const client = createEtcdClient({ endpoints: options.endpoints, tls: options.tls ?? null });
  const keys = keysUnder(options.prefix);
  const until = performance.now() + TIMEOUT_MS;
  try {
    for (;;) {
      try {
        if ((await client.range({ key: keys.head })).kvs.length === 0) return;
        break;
      } catch (cause) {
        if (performance.now() > until) throw asLogError(cause, "looking for a log in etcd");
        await sleep(RETRY_MS);
      }
    }
  } finally {
    client.close();
  }
  throw notEmpty(keys);
}

const notEmpty = (keys: Keys): LogError =>
  new LogError("wrong_index", `there is a log at ${keys.prefix} in etcd already`);

/** Throws `wrong_index` when there is a log already. May be repeated after a failure. */
export async function seedEtcdLog(
  options: Place,
  at: { readonly index: LogIndex; readonly term: Term },
  lines: Iterable<string>,
): Promise<SnapshotInfo> {
  const client = createEtcdClient({ endpoints: options.endpoints, tls: options.tls ?? null });
  const keys = keysUnder(options.prefix);
  const metadata = new LogMetadata(keys, () => undefined);
  try {
    if ((await client.range({ key: keys.head })).kvs.length > 0) throw notEmpty(keys);
    const registry = await startRegistry(client, keys, { name: `${options.name}-restore`, announcement: "" });
    try {
      const { lease } = registry;
      const quiet = { nowMs: Date.now, onWarning: () => undefined };
      const info = await new Snapshots({ client, keys, metadata, keep: 1, lease, ...quiet }).save(at, lines);
      // The last step: before it there is no log, only an unused snapshot.
      const request = {
        compare: [absent(keys.head), absent(keys.term), absent(keys.leader)],
        success: [
          put(keys.head, Buffer.from(String(at.index))),
          put(keys.first, Buffer.from(String(at.index + 1))),
          put(keys.term, Buffer.from(String(at.term))),
        ],
      };
      if (!(await client.txn(request, TIMEOUT_MS)).succeeded) throw notEmpty(keys);
      return info;
    } finally {
      await registry.close();
    }
  } catch (cause) {
    throw cause instanceof RangeError ? cause : asLogError(cause, "restoring a snapshot into etcd");
  } finally {
    client.close();
  }
}
