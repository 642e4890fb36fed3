// The cluster of a node: which servers it obeys, before and after a restart.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import { knownCluster } from "../../src/link/known-cluster.ts";

const [A, B] = ["a".repeat(32), "b".repeat(32)];
let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "lattice-known-cluster-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true, maxRetries: 9 }));

const welcome = (clusterId: string, clusterGeneration = 1, formerClusterIds: string[] = []): pb.Welcome =>
  create(pb.WelcomeSchema, { clusterId, clusterGeneration, formerClusterIds });

test("the first cluster is stored at once", () => {
  expect(knownCluster(dir).welcome(welcome(A), 5)).toBeNull();
  expect(knownCluster(dir).facts()).toEqual({ clusterId: A, clusterGeneration: 1, knownLogIndex: 5 });
});

test("a server of another cluster is refused, also after a restart", () => {
  const node = knownCluster(dir);
  node.welcome(welcome(A), 5);
  expect(node.welcome(welcome(B), 900)).toMatchObject({ code: "server_foreign_cluster" });
  expect(knownCluster(dir).welcome(welcome(B), 900)).toMatchObject({ code: "server_foreign_cluster" });
  expect(knownCluster(dir).facts().clusterId).toBe(A);
});

test("a server whose log is behind is refused, in its welcome and later", () => {
  const node = knownCluster(dir);
  node.welcome(welcome(A), 5);
  expect(node.heard(9)).toBeNull();
  expect(node.heard(8)).toMatchObject({ code: "server_behind" });
  node.close();
  expect(knownCluster(dir).welcome(welcome(A), 8)).toMatchObject({ code: "server_behind" });
  expect(knownCluster(dir).welcome(welcome(A), 9)).toBeNull();
});

test("after a restore the log begins again, and the earlier generation is refused", () => {
  const node = knownCluster(dir);
  node.welcome(welcome(A, 1), 500);
  expect(node.welcome(welcome(A, 1_800_000_000), 3)).toBeNull();
  expect(node.facts()).toMatchObject({ clusterGeneration: 1_800_000_000, knownLogIndex: 3 });
  expect(node.welcome(welcome(A, 1), 600)).toMatchObject({ code: "server_foreign_cluster" });
});

test("a cluster that was restored into the node's empty one is accepted", () => {
  const node = knownCluster(dir);
  node.welcome(welcome(A), 5);
  expect(node.welcome(welcome(B, 9, [A]), 2)).toBeNull();
  expect(node.facts().clusterId).toBe(B);
});

test("a damaged file is an error, not another cluster", () => {
  writeFileSync(join(dir, "cluster.json"), "{}");
  expect(() => knownCluster(dir)).toThrow(/cluster\.json is damaged/);
});
