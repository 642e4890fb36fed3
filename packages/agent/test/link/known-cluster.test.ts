// The cluster of a node: which servers it obeys, before and after a restart.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import type { LogPosition } from "@lattice/core";
import { pb } from "@lattice/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type KnownCluster, knownCluster } from "../../src/link/known-cluster.ts";

const [A, B] = ["a".repeat(32), "b".repeat(32)];
let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "lattice-known-cluster-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true, maxRetries: 9 }));

const welcome = (clusterId: string, clusterGeneration = 1, formerClusterIds: string[] = []): pb.Welcome =>
  create(pb.WelcomeSchema, { clusterId, clusterGeneration, formerClusterIds });

/** Logs of different names differ in every entry. */
const at = (index: number, log = "a"): LogPosition => ({ index, hash: hashOf(log), termHash: hashOf(`${log}${log}`) });
const hashOf = (text: string): string => text.padStart(16, "0");

/** Judges and adopts, as a session does for a server to which nothing else objects, and which holds the known entry. */
function meet(node: KnownCluster, from: pb.Welcome, index: number) {
  const knownLog = create(pb.LogPositionSchema, node.facts().knownLog);
  const answer = { ...from, knownLog };
  return node.judge(answer, at(index)) ?? node.adopt(answer, at(index));
}

test("the first cluster is stored at once", () => {
  expect(meet(knownCluster(dir), welcome(A), 5)).toBeNull();
  expect(knownCluster(dir).facts()).toEqual({ clusterId: A, clusterGeneration: 1, knownLog: at(5) });
});

test("a judgement stores nothing", () => {
  expect(knownCluster(dir).judge(welcome(A), at(5))).toBeNull();
  expect(knownCluster(dir).facts().clusterId).toBe("");
});

test("a first cluster that cannot be stored is refused", () => {
  mkdirSync(join(dir, "cluster.json.tmp"));
  const node = knownCluster(dir);
  expect(meet(node, welcome(A), 5)).toMatchObject({ code: "server_cluster_not_stored" });
  expect(node.facts().clusterId).toBe("");
});

test("a server of another cluster is refused, also after a restart", () => {
  const node = knownCluster(dir);
  meet(node, welcome(A), 5);
  expect(meet(node, welcome(B), 900)).toMatchObject({ code: "server_foreign_cluster" });
  expect(meet(knownCluster(dir), welcome(B), 900)).toMatchObject({ code: "server_foreign_cluster" });
  expect(knownCluster(dir).facts().clusterId).toBe(A);
});

test("a server that names no cluster is accepted by a node without one, and refused by any other", () => {
  const node = knownCluster(dir);
  expect(meet(node, welcome(""), 5)).toBeNull();
  meet(node, welcome(A), 5);
  expect(meet(node, welcome(""), 900)).toMatchObject({ code: "server_foreign_cluster" });
});

test("a server whose log is behind is refused, in its welcome and later", () => {
  const node = knownCluster(dir);
  meet(node, welcome(A), 5);
  expect(node.heard(at(9), false)).toBeNull();
  expect(node.heard(at(8), true)).toMatchObject({ code: "server_behind" });
  node.close();
  expect(meet(knownCluster(dir), welcome(A), 8)).toMatchObject({ code: "server_behind" });
  expect(meet(knownCluster(dir), welcome(A), 9)).toBeNull();
});

test.each([
  { acts: true, known: 9 },
  { acts: false, known: 5 },
])("a node that is killed after a message knows entry $known (acts on it: $acts)", ({ acts, known }) => {
  const node = knownCluster(dir, () => () => undefined);
  meet(node, welcome(A), 5);
  node.heard(at(9), acts);
  expect(knownCluster(dir).facts().knownLog.index).toBe(known);
});

test("after a restore the log begins again, and the earlier generation is refused", () => {
  const node = knownCluster(dir);
  meet(node, welcome(A, 1), 500);
  node.heard(at(501), true);
  expect(meet(node, welcome(A, 1_800_000_000), 3)).toBeNull();
  expect(node.facts()).toMatchObject({ clusterGeneration: 1_800_000_000, knownLog: at(3) });
  expect(knownCluster(dir).facts()).toMatchObject({ clusterGeneration: 1_800_000_000, knownLog: at(3) });
  expect(meet(node, welcome(A, 1), 600)).toMatchObject({ code: "server_foreign_cluster" });
});

test("a cluster that was restored into the node's empty one is accepted", () => {
  const node = knownCluster(dir);
  meet(node, welcome(A), 5);
  expect(meet(node, welcome(B, 9, [A]), 2)).toBeNull();
  expect(node.facts().clusterId).toBe(B);
});

test("a shorter index replaces a longer one, and a torn index counts as none", () => {
  const node = knownCluster(dir);
  meet(node, welcome(A, 1_800_000_000), 5);
  node.heard(at(123_456_789), true);
  meet(node, welcome(A, 1_800_000_001), 6);
  node.heard(at(7), true);
  expect(knownCluster(dir).facts().knownLog.index).toBe(7);
  writeFileSync(join(dir, "cluster-index"), `${A} 1800000001 9 -`);
  expect(knownCluster(dir).facts().knownLog.index).toBe(6);
});

test("an identity that could not be stored is stored with the next index", () => {
  const node = knownCluster(dir);
  meet(node, welcome(A, 1), 500);
  mkdirSync(join(dir, "cluster.json.tmp"));
  expect(meet(node, welcome(A, 1_800_000_000), 3)).toBeNull();
  node.heard(at(4), true);
  expect(knownCluster(dir).facts()).toMatchObject({ clusterGeneration: 1, knownLog: at(500) });
  rmSync(join(dir, "cluster.json.tmp"), { recursive: true });
  node.heard(at(5), true);
  expect(knownCluster(dir).facts()).toMatchObject({ clusterGeneration: 1_800_000_000, knownLog: at(5) });
});

test("a damaged file is an error, not another cluster", () => {
  writeFileSync(join(dir, "cluster.json"), "{}");
  expect(() => knownCluster(dir)).toThrow(/cluster\.json is damaged/);
});

const HELD: LogPosition = at(9);

test.each<{ what: string; known: Partial<LogPosition>; keptFrom?: number; refused: boolean }>([
  { what: "holds the entry", known: HELD, refused: false },
  { what: "holds another entry of the same term", known: { ...HELD, hash: hashOf("b") }, refused: true },
  { what: "keeps only the term of the entry", known: { ...HELD, hash: "" }, refused: false },
  { what: "has another term there", known: { ...HELD, hash: "", termHash: hashOf("bb") }, refused: true },
  { what: "answers about another entry", known: { ...HELD, index: 8 }, refused: true },
  { what: "answers nothing", known: { index: 0, hash: "", termHash: "" }, refused: true },
  { what: "should know the entry", known: { index: 9, hash: "", termHash: "" }, keptFrom: 9, refused: true },
  { what: "has only later entries", known: { index: 9, hash: "", termHash: "" }, keptFrom: 10, refused: false },
])(
  "a server that continues from an older copy is refused unless it $what: $refused",
  ({ known, keptFrom = 1, refused }) => {
    meet(knownCluster(dir), welcome(A), 9);
    const node = knownCluster(dir);
    const from = create(pb.WelcomeSchema, {
      ...{ clusterId: A, clusterGeneration: 1, logKeptFrom: keptFrom },
      knownLog: { ...HELD, ...known },
    });
    const refusal = node.judge(from, at(900, "b"));
    expect(refusal?.code).toBe(refused ? "server_log_differs" : undefined);
  },
);
