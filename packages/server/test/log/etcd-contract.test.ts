// The one contract test, over real etcd: one member, and three.

import { afterAll, beforeAll, describe } from "vitest";
import { put } from "../../src/log/etcd/append.ts";
import { createEtcdClient } from "../../src/log/etcd/client/client.ts";
import { keysUnder } from "../../src/log/etcd/keys.ts";
import { openEtcdLog } from "../../src/log/index.ts";
import { logContract } from "./contract.ts";
import { startEtcd, type TestCluster } from "./etcd-cluster.ts";

describe.each([1, 3])("%i members", (count) => {
  let cluster: TestCluster;
  let prefixes = 0;
  beforeAll(async () => {
    cluster = await startEtcd(count);
  });
  afterAll(() => cluster.stop());

  logContract(`etcd, ${count}`, async (maxEntryBytes) => {
    const { endpoints } = cluster;
    prefixes += 1;
    const prefix = `/lattice/contract-${prefixes}`;
    const options = { endpoints, prefix, maxEntryBytes, leaseSeconds: 30 };
    const rivals = await openEtcdLog({ ...options, name: "rival" });
    const damaged = new Set<string>();
    return {
      open: () => openEtcdLog({ ...options, name: "one" }),
      rival: () => rivals,
      damageNewestSnapshot: async () => {
        const id = await newestSnapshot(endpoints, prefix, damaged);
        if (id !== null) damaged.add(id);
      },
      cleanUp: () => rivals.close(),
    };
  });
});

/** Damages the newest snapshot and returns its index. */
async function newestSnapshot(
  endpoints: readonly string[],
  prefix: string,
  damaged: ReadonlySet<string>,
): Promise<string | null> {
  const client = createEtcdClient({ endpoints, tls: null });
  const keys = keysUnder(prefix);
  try {
    const { kvs } = await client.range({ ...keys.meta });
    const ids = kvs.flatMap((kv) => {
      const key = keys.parse(kv.key);
      return key.kind === "snapshot" ? [key.name.split("-")[1] ?? ""] : [];
    });
    const id = ids.findLast((one) => !damaged.has(one));
    if (id === undefined) return null;
    const piece = (await client.range({ key: keys.snapshotData(id, 0) })).kvs[0];
    const value = Buffer.from(piece?.value ?? []);
    value[0] = (value[0] ?? 0) ^ 1;
    await client.txn({ success: [put(keys.snapshotData(id, 0), value)] }, 5_000);
    return id;
  } finally {
    client.close();
  }
}
