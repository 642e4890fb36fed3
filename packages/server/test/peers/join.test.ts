// Decisions of a joining server, from the answer it got.

import type { ClusterIdentity, KnownIdentity } from "@lattice/core";
import { problem } from "@lattice/wire";
import { expect, test } from "vitest";
import type { MemberPlace } from "../../src/log/index.ts";
import type { JoinAnswer } from "../../src/peers/ask-to-join.ts";
import { decideJoin } from "../../src/peers/join.ts";

const own = { name: "lattice-3", peer: "host-3:9000" };
const [A, B] = ["a".repeat(32), "b".repeat(32)];
const decide = (answer: JoinAnswer, cluster: KnownIdentity | null = null) =>
  decideJoin(answer, { address: "host-1:50051", id: "server-3", own, cluster });
const added = (members: readonly MemberPlace[], cluster: ClusterIdentity | null = null) =>
  ({ kind: "members", members, cluster }) as const;
const first = { name: "lattice-1", peer: "host-1:9000" };

test("added: it starts with all members, with its own name for itself", () => {
  const unstarted = { name: "", peer: "host-2:9000" };
  const namesake = { name: "lattice-3", peer: "host-9:9000" };
  const members = [first, unstarted, { name: "", peer: own.peer }, namesake];
  expect(decide(added(members))).toEqual({
    kind: "begin",
    begin: {
      kind: "joined",
      members: [first, { name: "other-1", peer: "host-2:9000" }, own, { name: "other-3", peer: "host-9:9000" }],
    },
  });
});

test("known with its data lost: the error has the way to join again", () => {
  const step = decide(added([first, own]));
  expect(step).toMatchObject({ kind: "give_up", error: { code: "already_member" } });
  expect(step.kind === "give_up" && step.error.message).toContain("lattice admin raft remove-member server-3");
});

test("a handshake that fails ends the attempt with the reason", () => {
  const step = decide({ kind: "untrusted", why: "self-signed certificate" });
  expect(step).toMatchObject({ kind: "give_up", error: { message: "host-1:50051: self-signed certificate" } });
});

test("refused while the cluster adds another member: it waits longer", () => {
  const busy = problem("majority_at_risk", { detail: "host-2 was added before", retryAfterSeconds: 1 });
  expect(decide({ kind: "refused", problem: busy })).toMatchObject({ kind: "later", isBusy: true });
  const lost = problem("majority_at_risk", { detail: "3 of 4 must answer" });
  expect(decide({ kind: "refused", problem: lost })).toMatchObject({ kind: "later", isBusy: false });
});

test.each(["unauthenticated", "forbidden"] as const)(
  "refused with %s: the error names the token and its scope",
  (code) => {
    const step = decide({ kind: "refused", problem: problem(code, { detail: "No token." }) });
    expect(step.kind === "give_up" && step.error.message).toMatch(/No token\..*--user server-3 --scope member/);
  },
);

test.each([
  ["majority_at_risk", "later"],
  ["log_unavailable", "later"],
  ["not_leader", "later"],
  ["conflict", "give_up"],
  ["invalid_argument", "give_up"],
] as const)("refused with %s: %s", (code, kind) => {
  expect(decide({ kind: "refused", problem: problem(code) }).kind).toBe(kind);
});

test("another program is taken for an etcd endpoint; without an answer it retries", () => {
  expect(decide({ kind: "not_a_server" })).toEqual({
    kind: "begin",
    begin: { kind: "join", endpoints: ["host-1:50051"] },
  });
  expect(decide({ kind: "silent", why: "refused" })).toEqual({ kind: "later", why: "refused", isBusy: false });
});

test.each([
  ["another cluster", { id: B, generation: 1, former: [] }, "belongs to cluster"],
  ["the cluster before a restore", { id: A, generation: 1, former: [] }, "a restore of a backup"],
  ["a cluster without an identity", null, "not known yet"],
])("a server with data of a cluster does not start as a member of %s", (_, cluster, words) => {
  const step = decide(added([first], cluster), { id: A, generation: 7 });
  expect(step.kind === "give_up" && step.error.message).toContain(words);
});

test("a server with data of a cluster joins that cluster again, also after a restore", () => {
  for (const cluster of [
    { id: A, generation: 7, former: [] },
    { id: A, generation: 9, former: [] },
    { id: B, generation: 9, former: [A] },
  ])
    expect(decide(added([first], cluster), { id: A, generation: 7 }).kind).toBe("begin");
});

test("a server with data of a cluster does not join through etcd, which compares no identities", () => {
  const step = decide({ kind: "not_a_server" }, { id: A, generation: 7 });
  expect(step.kind === "give_up" && step.error.message).toContain("name a server of that cluster");
});

test("refused as a server of another cluster: it gives up with the hint", () => {
  const step = decide({ kind: "refused", problem: problem("foreign_cluster", { detail: "server-3 belongs to A." }) });
  expect(step.kind === "give_up" && step.error.message).toContain("server-3 belongs to A. Check the addresses");
});
