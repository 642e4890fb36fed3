// A leader that is known to be gone is replaced before its lease ends, and commits nothing afterwards even if it still
// runs.

import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createNotifier } from "../../src/log/contract/notifier.ts";
import { EtcdError } from "../../src/log/etcd/client/etcd-error.ts";
import type { LeaderRecord } from "../../src/log/etcd/metadata.ts";
import { revokeDeadLeaders } from "../../src/log/etcd/revoke-dead-leader.ts";
import { type EtcdLogOptions, LogError, openEtcdLog } from "../../src/log/index.ts";
import { entries } from "./entries.ts";
import { startEtcd, type TestCluster } from "./etcd-cluster.ts";

/** Far longer than the test may take. */
const LEASE_SECONDS = 60;

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startEtcd(1);
});
afterAll(() => cluster?.stop());

const open = (name: string, prefix: string, more: Partial<EtcdLogOptions> = {}) =>
  openEtcdLog({ endpoints: cluster.endpoints, prefix, name, leaseSeconds: LEASE_SECONDS, ...more });

test("a candidate that knows the leader is gone does not wait for its lease", async () => {
  let say: (candidate: string) => void = () => {};
  const asked = new Promise<string>((resolve) => {
    say = resolve;
  });
  let goes: () => void = () => {};
  const gone = new Promise<void>((resolve) => {
    goes = resolve;
  });
  const first = await open("first", "/hasten/a");
  const second = await open("second", "/hasten/a", {
    untilGone: (candidate) => {
      say(candidate);
      return gone;
    },
  });
  const never = new AbortController().signal;
  const old = await first.campaign("first at a", never);
  await first.append(old, entries(old.term, 1, "one", "two"));
  const campaigning = second.campaign("second at b", never);
  expect(await asked).toBe("first at a");
  goes();
  const fresh = await campaigning;
  expect(fresh.term).toBe(old.term + 1);
  await expect(first.append(old, entries(old.term, 3, "late"))).rejects.toBeInstanceOf(LogError);
  await second.append(fresh, entries(fresh.term, 3, "three"));
  expect(second.status().lastIndex).toBe(3);
  await Promise.all([first.close(), second.close()]);
});

interface Rig {
  readonly revoked: bigint[];
  leads(leader: LeaderRecord | null): void;
  /** How the next tries to revoke end; without one they succeed. */
  readonly failures: EtcdError[];
  readonly verdicts: Map<string, () => void>;
  stop(): Promise<void>;
}

function rig(): Rig {
  const changes = createNotifier();
  const stop = new AbortController();
  const revoked: bigint[] = [];
  const failures: EtcdError[] = [];
  const verdicts = new Map<string, () => void>();
  let leader: LeaderRecord | null = null;
  const ended = revokeDeadLeaders({
    metadata: { changes: changes, leader: () => leader },
    client: {
      async leaseRevoke(id) {
        revoked.push(id);
        const failure = failures.shift();
        if (failure !== undefined) throw failure;
      },
    },
    untilGone: (candidate) => new Promise((resolve) => verdicts.set(candidate, resolve)),
    candidate: "server-9",
    signal: stop.signal,
  });
  return {
    revoked,
    failures,
    verdicts,
    leads(next) {
      leader = next;
      changes.notify();
    },
    async stop() {
      stop.abort();
      await ended;
    },
  };
}

const leaderOf = (n: number): LeaderRecord => ({
  candidate: `server-${n}`,
  server: `server-${n}`,
  term: n,
  createRevision: BigInt(n),
  lease: BigInt(100 + n),
});

test("a late verdict on a replaced leader revokes nothing", async () => {
  const { revoked, verdicts, leads, stop } = rig();
  leads(leaderOf(1));
  await vi.waitUntil(() => verdicts.has("server-1"), 60_000);
  leads(leaderOf(2));
  verdicts.get("server-1")?.();
  await vi.waitUntil(() => verdicts.has("server-2"), 60_000);
  verdicts.get("server-2")?.();
  await vi.waitUntil(() => revoked.length > 0, 60_000);
  expect(revoked).toEqual([102n]);
  leads(null);
  await stop();
});

test("revocation is retried while etcd cannot answer, and not after the lease is gone", async () => {
  const { revoked, failures, verdicts, leads, stop } = rig();
  failures.push(new EtcdError("unavailable", "no leader"), new EtcdError("unavailable", "no leader"));
  failures.push(new EtcdError("not_found", "gone"));
  leads(leaderOf(1));
  await vi.waitUntil(() => verdicts.has("server-1"), 60_000);
  verdicts.get("server-1")?.();
  await vi.waitUntil(() => revoked.length === 3, 60_000);
  await new Promise((resolve) => setTimeout(resolve, 250));
  expect(revoked).toEqual([101n, 101n, 101n]);
  await stop();
});

test("a server never revokes its own lease", async () => {
  const { verdicts, leads, stop } = rig();
  leads(leaderOf(9));
  await new Promise((resolve) => setTimeout(resolve, 20));
  leads(leaderOf(1));
  await vi.waitUntil(() => verdicts.has("server-1"), 60_000);
  expect([...verdicts.keys()]).toEqual(["server-1"]);
  verdicts.get("server-1")?.();
  await stop();
});
