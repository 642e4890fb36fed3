// A handle never continues on another log than the one that it has followed: neither in another etcd cluster, nor after
// the log was removed or replaced by an older copy.

import { logIndex } from "@lattice/core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { put, remove } from "../../src/log/etcd/append.ts";
import { createEtcdClient, type EtcdClient } from "../../src/log/etcd/client/client.ts";
import type { EtcdLog } from "../../src/log/etcd/handle.ts";
import { keysUnder } from "../../src/log/etcd/keys.ts";
import { createStoreGuard } from "../../src/log/etcd/store-guard.ts";
import { openEtcdLog } from "../../src/log/index.ts";
import { entries, fill, lead, never } from "./entries.ts";
import { startEtcd, type TestCluster } from "./etcd-cluster.ts";

test("a guard accepts one cluster and a log that grows", () => {
  const lost: Error[] = [];
  const guard = createStoreGuard((error) => lost.push(error));
  guard.answered(7n);
  guard.answered(7n);
  guard.endsAt(5, 5);
  guard.endsAt(6, 5);
  expect([guard.lost(), lost]).toEqual([null, []]);
});

test.each([
  ["another cluster", () => ({ clusterId: 8n, end: 5 }), "etcd answers as cluster 8, and was cluster 7"],
  ["a shorter log", () => ({ clusterId: 7n, end: 4 }), "the log in etcd ends at entry 4, not 5"],
  ["no log", () => ({ clusterId: 7n, end: 0 }), "the log is gone from etcd"],
])("a guard refuses %s, once and for all", (_what, found, message) => {
  const lost: Error[] = [];
  const guard = createStoreGuard((error) => lost.push(error));
  guard.answered(7n);
  const { clusterId, end } = found();
  const meet = () => {
    guard.answered(clusterId);
    guard.endsAt(end, 5);
  };
  expect(meet).toThrow(message);
  expect(() => guard.answered(7n)).toThrow(message);
  expect(guard.lost()).toMatchObject({ code: "log_lost" });
  expect(lost).toHaveLength(1);
});

describe("a handle that has followed a log", () => {
  let own: TestCluster;
  let other: TestCluster;
  let client: EtcdClient;
  beforeAll(async () => {
    [own, other] = await Promise.all([startEtcd(1, ["--initial-cluster-token", "own"]), startEtcd(1)]);
    client = createEtcdClient({ endpoints: own.endpoints, tls: null });
  });
  afterAll(async () => {
    client.close();
    await Promise.all([own.stop(), other.stop()]);
  });

  let n = 0;
  let prefix = "";
  let lost: Error[] = [];
  beforeEach(() => {
    n += 1;
    prefix = `/lattice/lost-${n}`;
    lost = [];
  });
  const open = (endpoints: readonly string[]) =>
    openEtcdLog({ endpoints, prefix, name: "one", leaseSeconds: 30, onLost: (error) => lost.push(error) });

  async function refusesEverything(log: EtcdLog, message: string): Promise<void> {
    expect(lost.map((error) => error.message).join()).toContain(message);
    const isLost = { code: "log_lost" };
    await expect(log.head()).rejects.toMatchObject(isLost);
    await expect(log.campaign("again", never)).rejects.toMatchObject(isLost);
    await expect(log.read(logIndex(9), never)[Symbol.asyncIterator]().next()).rejects.toMatchObject(isLost);
    expect(log.status().unwritable).toContain(message);
    await log.close();
    expect(lost).toHaveLength(1);
  }

  test("refuses a log that was removed", async () => {
    const log = await open(own.endpoints);
    const leader = await lead(log);
    await fill(log, leader, 1, 5);
    const waiting = log.read(logIndex(6), never)[Symbol.asyncIterator]().next();
    waiting.catch(() => undefined);
    await client.txn({ success: [remove(keysUnder(prefix).meta)] }, 2_000);
    await expect(log.append(leader, entries(leader.term, 6, "six"))).rejects.toMatchObject({
      code: expect.stringMatching(/^(lost_leadership|log_lost)$/),
    });
    await log.head().catch(() => undefined);
    await expect(waiting).rejects.toMatchObject({ code: "log_lost" });
    await refusesEverything(log, "the log is gone from etcd");
  });

  test("refuses to lead a log that ends before what it has read", async () => {
    const log = await open(own.endpoints);
    const leader = await lead(log);
    await fill(log, leader, 1, 5);
    await leader.resign();
    await client.txn({ success: [put(keysUnder(prefix).head, Buffer.from("3"))] }, 2_000);
    await expect(log.campaign("again", never)).rejects.toMatchObject({ code: "log_lost" });
    await refusesEverything(log, "ends at entry 3, not 5");
  });

  test("refuses the answers of another etcd cluster", async () => {
    const log = await open([...own.endpoints, ...other.endpoints]);
    const leader = await lead(log);
    await fill(log, leader, 1, 5);
    await own.members[0]?.kill("SIGKILL");
    await expect.poll(() => lost.length).toBe(1);
    await expect(log.append(leader, entries(leader.term, 6, "six"))).rejects.toThrow();
    await refusesEverything(log, "etcd answers as cluster");
    const foreign = createEtcdClient({ endpoints: other.endpoints, tls: null });
    expect((await foreign.range({ ...keysUnder(prefix).meta })).kvs).toEqual([]);
    foreign.close();
  });
});
