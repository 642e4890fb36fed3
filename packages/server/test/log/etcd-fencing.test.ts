// Only the leader commits: not a resumed leader, not one whose lease was revoked, not one that missed the election. And
// leadership ends locally before it can end in etcd.

import { type ChildProcess, spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { appendToEtcd } from "../../src/log/etcd/append.ts";
import { createEtcdClient, type EtcdClient } from "../../src/log/etcd/client/client.ts";
import { keysUnder } from "../../src/log/etcd/keys.ts";
import { keepLease } from "../../src/log/etcd/lease.ts";
import { openEtcdLog } from "../../src/log/index.ts";
import { entries, fill, lead, readThrough, textOf } from "./entries.ts";
import { startEtcd, type TestCluster } from "./etcd-cluster.ts";
import { temporaryDir } from "./temporary-dir.ts";

const SOURCE = fileURLToPath(new URL("./etcd-append-forever.ts", import.meta.url));
const REQUIRE = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

let cluster: TestCluster;
let client: EtcdClient;
let program: string;
beforeAll(async () => {
  cluster = await startEtcd(1);
  client = createEtcdClient({ endpoints: cluster.endpoints, tls: null });
  program = join(await temporaryDir(), "etcd-append-forever.mjs");
  buildSync({
    entryPoints: [SOURCE],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    banner: { js: REQUIRE },
  });
});
afterAll(async () => {
  client.close();
  await cluster.stop();
  await rm(dirname(program), { recursive: true, force: true, maxRetries: 9 });
});

interface Child {
  readonly process: ChildProcess;
  readonly lines: string[];
  said(what: RegExp): Promise<string>;
}

function startChild(prefix: string): Child {
  const child = spawn(process.execPath, [program, cluster.endpoints.join(","), prefix], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line);
    for (const look of [...waiting]) look();
  });
  const said = (what: RegExp): Promise<string> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = lines.find((line) => what.test(line));
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  return { process: child, lines, said };
}

test("a suspended leader loses its leadership and commits nothing after it resumes", async () => {
  const prefix = "/lattice/paused";
  const child = startChild(prefix);
  const exited = new Promise((resolve) => child.process.once("close", resolve));
  await child.said(/^20$/);
  child.process.kill("SIGSTOP");
  const log = await openEtcdLog({ endpoints: cluster.endpoints, prefix, name: "other" });
  const leader = await lead(log, "other");
  const first = (await log.head()) + 1;
  await fill(log, leader, first, first + 4);
  child.process.kill("SIGCONT");
  expect(await child.said(/^refused/)).toBe("refused lost_leadership");
  await child.said(/^lost/);
  await exited;

  const last = await log.head();
  expect(last).toBe(first + 4);
  const read = await readThrough(log, 1, last);
  expect(read.map((entry) => entry.index)).toEqual(read.map((_, n) => n + 1));
  const terms = read.map((entry) => entry.term);
  expect(terms).toEqual([...terms].sort((a, b) => a - b));
  const acknowledged = child.lines.filter((line) => /^[0-9]+$/.test(line)).map(Number);
  expect(acknowledged.length).toBeGreaterThanOrEqual(20);
  for (const index of acknowledged) {
    const entry = read[index - 1];
    expect(entry === undefined ? "" : textOf(entry)).toBe(`child ${index}`);
  }
  await log.close();
});

test("etcd refuses an author that wrongly believes it leads", async () => {
  const prefix = "/lattice/stale";
  const keys = keysUnder(prefix);
  const log = await openEtcdLog({ endpoints: cluster.endpoints, prefix, name: "one", leaseSeconds: 30 });
  const old = await lead(log, "one");
  await fill(log, old, 1, 3);
  const leaderKey = (await client.range({ key: keys.leader })).kvs[0];
  const createRevision = leaderKey?.createRevision ?? 0n;
  await old.resign();
  const next = await lead(log, "one");
  const frozen = { client, keys, createRevision, timeoutMs: 60_000 };
  const small = entries(old.term, 4, "too late");
  expect(await appendToEtcd({ ...frozen, lastIndex: 3, entries: small })).toEqual({ kind: "lost_leadership" });
  const large = entries(old.term, 4, "x".repeat(3 * 1024 * 1024));
  expect(await appendToEtcd({ ...frozen, lastIndex: 3, entries: large })).toEqual({ kind: "lost_leadership" });
  expect((await client.range({ ...keys.partsBefore(99), countOnly: true })).count).toBe(0n);
  // The right author with the wrong index is refused too.
  const now = (await client.range({ key: keys.leader })).kvs[0]?.createRevision ?? 0n;
  const misplaced = { ...frozen, createRevision: now, lastIndex: 2, entries: entries(next.term, 3, "again") };
  expect(await appendToEtcd(misplaced)).toEqual({ kind: "wrong_index", lastIndex: 3 });
  expect(await log.head()).toBe(3);
  await log.close();
});

test("a revoked lease ends the leadership at once, and the next candidate leads", async () => {
  const prefix = "/lattice/revoked";
  const options = { endpoints: cluster.endpoints, prefix, leaseSeconds: 30 };
  const log = await openEtcdLog({ ...options, name: "one" });
  const rival = await openEtcdLog({ ...options, name: "two" });
  const first = await lead(log, "one");
  const waiting = lead(rival, "two");
  const lost = new Promise((resolve) => first.lost.addEventListener("abort", resolve, { once: true }));
  const lease = (await client.range({ key: keysUnder(prefix).leader })).kvs[0]?.lease ?? 0n;
  await client.leaseRevoke(lease);
  await lost;
  const second = await waiting;
  expect(second.term).toBe(first.term + 1);
  await expect(log.append(first, entries(first.term, 1, "x"))).rejects.toMatchObject({ code: "lost_leadership" });
  expect((await log.members()).map(({ id, leader }) => ({ id, leader }))).toEqual([
    { id: "one", leader: false },
    { id: "two", leader: true },
  ]);
  await Promise.all([log.close(), rival.close()]);
});

test("a lease ends locally before it ends in etcd when etcd does not answer", async () => {
  const kept = await keepLease(client, 20);
  await sleep(6_000); // renewed once, at least
  expect(kept.holds()).toBe(true);
  const over = new Promise((resolve) => kept.over.addEventListener("abort", resolve, { once: true }));
  const [member] = cluster.members;
  await member?.kill("SIGSTOP");
  try {
    await over;
    expect(kept.holds()).toBe(false);
  } finally {
    await member?.kill("SIGCONT");
  }
  // etcd stood still, so its own clock for the lease did too: the key would still be there.
  expect(await client.leaseKeepAlive(kept.id, 60_000)).toBeGreaterThan(0);
  await kept.end();
});

test("the preferred candidate leads next, or any other when it is absent", async () => {
  const options = { endpoints: cluster.endpoints, prefix: "/lattice/favoured", leaseSeconds: 30 };
  const open = (name: string) => openEtcdLog({ ...options, name });
  const [one, two, three] = await Promise.all([open("one"), open("two"), open("three")]);
  let leading = await lead(one, "one");
  // Often enough to exclude chance: the first in line is not always the preferred one.
  for (const [next, other, name] of [
    [three, two, "three"],
    [two, one, "two"],
    [three, one, "three"],
  ] as const) {
    const stop = new AbortController();
    const othersTurn = other.campaign("other", stop.signal).catch(() => null);
    const turn = lead(next, name);
    await (one.shared?.favour(name) ?? Promise.reject(new Error("not shared")));
    await leading.resign();
    leading = await turn;
    expect(one.status().term).toBeLessThanOrEqual(leading.term);
    await expect.poll(() => one.status().leader).toBe(name);
    stop.abort();
    expect(await othersTurn).toBeNull();
  }
  await one.shared?.favour("absent");
  const anyone = lead(two, "two");
  await leading.resign();
  expect((await anyone).term).toBe(leading.term + 1);
  await Promise.all([one.close(), two.close(), three.close()]);
});
