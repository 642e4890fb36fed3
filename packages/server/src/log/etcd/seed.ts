// Puts a snapshot into an etcd that has no log yet, so that a log begins right behind it: how a
// backup is restored into a new cluster. A log that is there is never touched.

import type { LogIndex, Term } from "@lattice/core";
import { LogError, type SnapshotInfo } from "../replicated-log.ts";
import { absent, put } from "./append.ts";
import { asLogError } from "./as-log-error.ts";
import { createEtcdClient } from "./client/client.ts";
import { createFacts } from "./facts.ts";
import { keysUnder } from "./keys.ts";
import type { EtcdLogOptions } from "./open.ts";
import { startRegistry } from "./registry.ts";
import { createSnapshots } from "./snapshots.ts";

const TIMEOUT_MS = 10_000;

/** Throws `wrong_index` when there is a log already. May be repeated after a failure. */
export async function seedEtcdLog(
  options: Pick<EtcdLogOptions, "endpoints" | "tls" | "prefix" | "name">,
  at: { readonly index: LogIndex; readonly term: Term },
  lines: Iterable<string>,
): Promise<SnapshotInfo> {
  const client = createEtcdClient({ endpoints: options.endpoints, tls: options.tls ?? null });
  const keys = keysUnder(options.prefix);
  const facts = createFacts(keys, () => undefined);
  const notEmpty = new LogError("wrong_index", `there is a log at ${keys.prefix} in etcd already`);
  try {
    if ((await client.range({ key: keys.head })).kvs.length > 0) throw notEmpty;
    const registry = await startRegistry(client, keys, { name: `${options.name}-restore`, address: "" });
    try {
      const { lease } = registry;
      const quiet = { nowMs: Date.now, onWarning: () => undefined };
      const info = await createSnapshots({ client, keys, facts, keep: 1, lease, ...quiet }).save(at, lines);
      // The last step: until here there is no log, only a snapshot that nobody has begun from.
      const request = {
        compare: [absent(keys.head), absent(keys.term), absent(keys.leader)],
        success: [
          put(keys.head, Buffer.from(String(at.index))),
          put(keys.first, Buffer.from(String(at.index + 1))),
          put(keys.term, Buffer.from(String(at.term))),
        ],
      };
      if (!(await client.txn(request, TIMEOUT_MS)).succeeded) throw notEmpty;
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
