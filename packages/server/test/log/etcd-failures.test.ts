// Members that die, answers that get lost, revisions that are compacted away: nothing acknowledged
// is lost, nothing is there twice, and readers see every entry once.

import { logIndex } from "@lattice/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { put } from "../../src/log/etcd/append.ts";
import { createEtcdClient, type EtcdClient } from "../../src/log/etcd/client/client.ts";
import { keysUnder } from "../../src/log/etcd/keys.ts";
import { LogMetadata } from "../../src/log/etcd/metadata.ts";
import { createStoreGuard } from "../../src/log/etcd/store-guard.ts";
import { startTail } from "../../src/log/etcd/tail.ts";
import { type Leadership, LogError, openEtcdLog, type ReplicatedLog } from "../../src/log/index.ts";
import { startCutProxy } from "./cut-proxy.ts";
import { bytesOf, entries, fill, lead, linesOf, readThrough, textOf } from "./entries.ts";
import { healthy, startEtcd, type TestCluster } from "./etcd-cluster.ts";

/** A database that is soon full. */
const SMALL_BYTES = 6 * 1024 * 1024;

let cluster: TestCluster;
let small: TestCluster;
beforeAll(async () => {
  [cluster, small] = await Promise.all([startEtcd(3), startEtcd(1, ["--quota-backend-bytes", String(SMALL_BYTES)])]);
});
afterAll(() => Promise.all([cluster.stop(), small.stop()]));

const open = (prefix: string, more: object = {}): Promise<ReplicatedLog> =>
  openEtcdLog({ endpoints: cluster.endpoints, prefix: `/lattice/${prefix}`, name: "one", leaseSeconds: 20, ...more });

test("an append with a lost answer is found durable", async () => {
  const proxy = await startCutProxy(cluster.endpoints[0] ?? "");
  const log = await open("lost-answer", { endpoints: [proxy.endpoint, cluster.endpoints[1]], leaseSeconds: 20 });
  const leader = await lead(log);
  await fill(log, leader, 1, 3);
  const reading = readThrough(log, 1, 6);
  proxy.swallowAnswers();
  await log.append(leader, entries(leader.term, 4, "four"));
  await log.append(leader, entries(leader.term, 5, "five", "six"));
  expect((await reading).map((entry) => entry.index)).toEqual([1, 2, 3, 4, 5, 6]);
  expect((await readThrough(log, 4, 6)).map(textOf)).toEqual(["four", "five", "six"]);
  await log.close();
  await proxy.close();
});

test("an append without an answer is reported as in doubt", async () => {
  const proxy = await startCutProxy(cluster.endpoints[0] ?? "");
  const log = await open("doubt", { endpoints: [proxy.endpoint], leaseSeconds: 20, appendTimeoutMs: 300 });
  const leader = await lead(log);
  await fill(log, leader, 1, 2);
  proxy.swallowAnswers();
  const append = log.append(leader, entries(leader.term, 3, "three"));
  await expect(append).rejects.toMatchObject({ code: "unavailable" });
  expect(log.status().unwritable).toContain("etcd at");
  await proxy.close();
  await log.close();
  const again = await open("doubt");
  // It was written: the reader shows it.
  expect((await readThrough(again, 3, 3)).map(textOf)).toEqual(["three"]);
  await again.close();
});

test("kill -9 of etcd's leader during appends: nothing acknowledged is lost", async () => {
  const log = await open("killed-leader");
  const observer = await open("killed-leader", { name: "observer" });
  const acknowledged: number[] = [];
  let elections = 0;
  let leader: Leadership = await lead(log);
  const seen = readThrough(observer, 1, 200);
  const victim = await cluster.leader();
  while ((acknowledged.at(-1) ?? 0) < 200) {
    if (acknowledged.length === 60 && elections === 0) {
      elections += 1;
      void victim.kill("SIGKILL");
    }
    const next = log.status().lastIndex + 1;
    try {
      await log.append(leader, entries(leader.term, next, `entry ${next}`));
      acknowledged.push(next);
    } catch (cause) {
      if (!(cause instanceof LogError)) throw cause;
      await leader.resign();
      leader = await lead(log);
    }
  }
  const read = await seen;
  expect(read.map((entry) => entry.index)).toEqual(Array.from({ length: 200 }, (_, n) => n + 1));
  for (const index of acknowledged) expect(read.map(textOf)[index - 1]).toBe(`entry ${index}`);
  expect(acknowledged.length).toBeGreaterThan(190);
  victim.start();
  await healthy([victim.endpoint]);
  await Promise.all([log.close(), observer.close()]);
});

test("a suspended member does not stop its readers and writers", async () => {
  const log = await open("stopped-member", { leaseSeconds: 20 });
  const writer = await lead(log);
  await fill(log, writer, 1, 5);
  const leaderName = (await cluster.leader()).name;
  const follower = cluster.members.find((member) => member.name !== leaderName);
  const order = [follower?.endpoint ?? "", ...cluster.endpoints];
  const reader = await open("stopped-member", { endpoints: order, name: "reader" });
  const reading = readThrough(reader, 1, 10);
  await follower?.kill("SIGSTOP");
  try {
    await fill(log, writer, 6, 10);
    expect((await reading).map((entry) => entry.index)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  } finally {
    await follower?.kill("SIGCONT");
  }
  await Promise.all([log.close(), reader.close()]);
});

test("readers continue during compaction, far behind and at the end", async () => {
  const proxy = await startCutProxy(cluster.endpoints[0] ?? "");
  const client = createEtcdClient({ endpoints: cluster.endpoints, tls: null });
  const log = await open("compacted");
  const reader = await open("compacted", { endpoints: [proxy.endpoint], name: "reader" });
  const leader = await lead(log);
  await fill(log, leader, 1, 30);
  const reading = [1, 20, 31].map((from) => readThrough(reader, from, 90));
  await fill(log, leader, 31, 60);
  // While its connections are cut, the revisions that its watch needs are compacted.
  proxy.cut();
  await fill(log, leader, 61, 80);
  const { header } = await client.range({ key: Buffer.from("/") });
  await client.compact(header?.revision ?? 0n);
  await fill(log, leader, 81, 90);
  const seen = await Promise.all(reading);
  expect(seen.map((read) => read.map((entry) => entry.index))).toEqual([
    Array.from({ length: 90 }, (_, n) => n + 1),
    Array.from({ length: 71 }, (_, n) => n + 20),
    Array.from({ length: 60 }, (_, n) => n + 31),
  ]);
  await Promise.all([log.close(), reader.close()]);
  client.close();
  await proxy.close();
});

test("a watch that starts before a compaction reads everything again", async () => {
  const client = createEtcdClient({ endpoints: cluster.endpoints, tls: null });
  const keys = keysUnder("/lattice/compacted-start");
  const metadata = new LogMetadata(keys, () => undefined);
  const { header } = await client.range({ key: keys.head });
  await client.compact(header?.revision ?? 0n);
  let reads = 0;
  // As if the revision had been compacted between reading and watching.
  const late: EtcdClient = {
    ...client,
    async range(request, signal) {
      const answer = await client.range(request, signal);
      reads += 1;
      if (reads === 1 && answer.header !== undefined) answer.header.revision = 1n;
      return answer;
    },
  };
  const stop = new AbortController();
  const guard = createStoreGuard(() => undefined);
  const tail = await startTail({ client: late, keys, metadata, guard, signal: stop.signal, onState: () => undefined });
  await expect.poll(() => reads).toBe(2);
  await client.txn({ success: [put(keys.head, Buffer.from("7"))] }, 5_000);
  await expect.poll(() => metadata.lastIndex()).toBe(7);
  stop.abort();
  await tail.ended;
  client.close();
});

test("an entry of 3 MiB is stored in parts and read back between small ones", async () => {
  const log = await open("large");
  const reader = await open("large", { name: "reader" });
  const leader = await lead(log);
  const large = Buffer.alloc(3 * 1024 * 1024, "large ");
  const live = readThrough(reader, 1, 4);
  await log.append(leader, entries(leader.term, 1, "one"));
  await log.append(leader, [
    { index: logIndex(2), term: leader.term, bytes: large },
    { index: logIndex(3), term: leader.term, bytes: bytesOf("three") },
  ]);
  await log.append(leader, entries(leader.term, 4, "four"));
  const fresh = await open("large", { name: "fresh" });
  for (const read of [await live, await readThrough(fresh, 1, 4)]) {
    expect(read.map((entry) => entry.index)).toEqual([1, 2, 3, 4]);
    expect(large.equals(read[1]?.bytes ?? new Uint8Array())).toBe(true);
    expect(read.slice(2).map(textOf)).toEqual(["three", "four"]);
  }
  expect((await readThrough(fresh, 3, 3)).map(textOf)).toEqual(["three"]);
  const lines = Array.from({ length: 3_000 }, (_, n) => `${n} ${Math.sin(n)}`.repeat(40));
  await log.saveSnapshot({ index: logIndex(4), term: leader.term }, lines);
  const loaded = await fresh.loadSnapshot();
  expect(loaded === null ? [] : await linesOf(loaded.lines)).toEqual(lines);
  await log.truncate(logIndex(4));
  expect(log.status().firstIndex).toBe(5);
  await expect(readThrough(fresh, 2, 4)).rejects.toMatchObject({ code: "truncated" });
  await Promise.all([log.close(), reader.close(), fresh.close()]);
});

test("the database stays bounded over rounds of appends, snapshots and truncation", async () => {
  const log = await open("bounded", { compactGapMs: 0, keepSnapshots: 2 });
  const leader = await lead(log);
  const text = "x".repeat(100_000);
  const sizes: number[] = [];
  for (let round = 0; round < 12; round += 1) {
    for (let n = 1; n <= 10; n += 1) {
      await log.append(leader, entries(leader.term, round * 10 + n, text));
    }
    await log.saveSnapshot({ index: logIndex(round * 10 + 10), term: leader.term }, [`round ${round}`, text]);
    await log.truncate(logIndex(round * 10 + 10));
    sizes.push(log.status().bytes);
  }
  // Twelve megabytes went through; what is kept is the last two rounds and what etcd has yet to free.
  expect(log.status()).toMatchObject({ firstIndex: 111, lastIndex: 120 });
  await expect.poll(() => log.status().bytes, { interval: 500 }).toBeLessThan(8_000_000);
  expect(Math.max(...sizes)).toBeLessThan(13_000_000);
  await log.close();
});

test("a full database refuses appends until old revisions are dropped", async () => {
  const options = { endpoints: small.endpoints, compactGapMs: 1e9, leaseSeconds: 20, ownMember: true };
  const log = await open("full", options);
  const leader = await lead(log);
  await log.append(leader, entries(leader.term, 1, "one"));
  await log.saveSnapshot({ index: logIndex(1), term: leader.term }, ["at 1"]);
  await log.truncate(logIndex(1)); // the one compaction that the gap allows
  const text = "x".repeat(500_000);
  const filled = (async () => {
    for (let next = 2; ; next += 1) {
      await log.append(leader, entries(leader.term, next, text));
      await log.saveSnapshot({ index: logIndex(next), term: leader.term }, [`at ${next}`]);
      await log.truncate(logIndex(next - 4));
    }
  })();
  await expect(filled).rejects.toMatchObject({ code: "storage_full" });
  const refused = log.status().lastIndex + 1;
  await expect
    .poll(() => log.append(leader, entries(leader.term, refused, "again")).then(() => "taken", String))
    .toBe("taken");
  expect(log.status()).toMatchObject({ lastIndex: refused, unwritable: null });
  expect((await readThrough(log, refused, refused)).map(textOf)).toEqual(["again"]);
  await log.close();
});

test("without a majority nothing is written, known entries are readable, and appends work again afterwards", async () => {
  const log = await open("minority", { leaseSeconds: 20, appendTimeoutMs: 500 });
  const leader = await lead(log);
  await fill(log, leader, 1, 5);
  const stopped = cluster.members.slice(1);
  await Promise.all(stopped.map((member) => member.kill("SIGSTOP")));
  try {
    const append = log.append(leader, entries(leader.term, 6, "six"));
    await expect(append).rejects.toMatchObject({ code: "unavailable" });
    expect(log.status().unwritable).not.toBeNull();
    expect(await readThrough(log, 1, 5)).toHaveLength(5);
  } finally {
    await Promise.all(stopped.map((member) => member.kill("SIGCONT")));
  }
  // In doubt: it may have been written. Either way the log has no gap and continues.
  await expect.poll(() => log.status().unwritable).toBeNull();
  await expect.poll(() => log.head().catch(() => 0)).toBeGreaterThan(4);
  const again = leader.lost.aborted ? await lead(log) : leader;
  const next = (await log.head()) + 1;
  await expect.poll(() => log.append(again, entries(again.term, next, "on")).then(() => "taken", String)).toBe("taken");
  expect((await readThrough(log, 1, next)).map((entry) => entry.index)).toEqual(
    Array.from({ length: next }, (_, n) => n + 1),
  );
  await log.close();
});

test("opening without etcd fails with the reason", async () => {
  const options = { endpoints: ["127.0.0.1:1"], openTimeoutMs: 300 };
  await expect(open("nowhere", options)).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("127.0.0.1:1"),
  });
});
