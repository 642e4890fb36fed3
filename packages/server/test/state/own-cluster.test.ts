// The stored identity of a server: a log of another cluster, an older one, and an empty one are refused.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ENTRY_VERSION, encodeEntry, instant, logIndex } from "@lattice/core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openMemoryLog } from "../../src/log/index.ts";
import { ClusterMismatchError, keepingOwn, openOwnCluster, watchCluster } from "../../src/state/own-cluster.ts";
import { openReplica } from "../../src/state/replica/replica.ts";

const [A, B] = ["a".repeat(32), "b".repeat(32)];
let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "lattice-own-cluster-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true, maxRetries: 9 }));

test("the first identity is stored and found again", () => {
  openOwnCluster(dir).meet({ id: A, generation: 1, former: [] });
  expect(openOwnCluster(dir).stored()).toEqual({ id: A, generation: 1, former: [] });
});

test("a log of another cluster is refused and the stored identity stays", () => {
  openOwnCluster(dir).meet({ id: A, generation: 1, former: [] });
  const own = openOwnCluster(dir);
  expect(() => own.meet({ id: B, generation: 1, former: [] })).toThrow(ClusterMismatchError);
  expect(openOwnCluster(dir).stored()).toEqual({ id: A, generation: 1, former: [] });
});

test("a log from before a restore is refused", () => {
  openOwnCluster(dir).meet({ id: A, generation: 7, former: [] });
  expect(() => openOwnCluster(dir).meet({ id: A, generation: 1, former: [] })).toThrow(/restore/);
});

test("a cluster that was restored into this server's empty one is accepted", () => {
  openOwnCluster(dir).meet({ id: A, generation: 1, former: [] });
  openOwnCluster(dir).meet({ id: B, generation: 5, former: [A] });
  expect(openOwnCluster(dir).stored()).toEqual({ id: B, generation: 5, former: [A] });
});

test("a replay of the log after a restore meets the former identity and keeps the new one", () => {
  openOwnCluster(dir).meet({ id: A, generation: 1, former: [] });
  openOwnCluster(dir).meet({ id: B, generation: 5, former: [A] });
  const own = openOwnCluster(dir);
  own.meet({ id: A, generation: 1, former: [] });
  own.meet({ id: B, generation: 5, former: [A] });
  expect(own.stored()).toEqual({ id: B, generation: 5, former: [A] });
});

test("an empty log is led by a new server only", () => {
  const own = openOwnCluster(dir);
  own.refuseEmptyLog();
  own.meet({ id: A, generation: 1, former: [] });
  expect(() => own.refuseEmptyLog()).toThrow(/its log is empty/);
});

test("a damaged file is an error that names it", () => {
  writeFileSync(join(dir, "cluster.json"), '{"id":"a"}');
  expect(() => openOwnCluster(dir)).toThrow(/cluster\.json is damaged/);
  expect(readFileSync(join(dir, "cluster.json"), "utf8")).toBe('{"id":"a"}');
});

/** A log of the given cluster, and what a server that stores cluster A keeps of it. */
async function follow(cluster: string) {
  const log = openMemoryLog();
  const leadership = await log.campaign("s1", new AbortController().signal);
  const entry = { index: logIndex(1), term: leadership.term, at: instant(1), version: ENTRY_VERSION };
  const text = encodeEntry({ ...entry, prevHash: "", commands: [{ kind: "cluster.found", id: cluster }] });
  await log.append(leadership, [{ ...entry, bytes: new TextEncoder().encode(text) }]);
  const expelled: Error[] = [];
  const watch = watchCluster(openOwnCluster(dir), (error) => expelled.push(error));
  const kept: number[] = [];
  const replica = await openReplica(
    log,
    keepingOwn(watch, ({ index }) => void kept.push(index)),
  );
  const followed = await Promise.race([
    replica.waitFor(logIndex(1), AbortSignal.timeout(5_000)),
    replica.failed.catch((error: unknown) => error),
  ]);
  await replica.close();
  return { followed, kept, expelled };
}

test("nothing of the log of another cluster is kept, and the server ends", async () => {
  openOwnCluster(dir).meet({ id: A, generation: 1, former: [] });
  const { followed, kept, expelled } = await follow(B);
  expect(followed).toBeInstanceOf(ClusterMismatchError);
  expect(expelled).toEqual([followed]);
  expect(kept).toEqual([]);
  expect((await follow(A)).kept).toEqual([1]);
});
