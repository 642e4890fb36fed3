// The stored identity of a server: a log of another cluster, an older one, and an empty one are refused.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ClusterMismatchError, openOwnCluster } from "../../src/state/own-cluster.ts";

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
