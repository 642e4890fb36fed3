// Decisions of a joining server, from the answer it got.

import { problem } from "@lattice/wire";
import { expect, test } from "vitest";
import type { JoinAnswer } from "../../src/peers/ask-to-join.ts";
import { decideJoin } from "../../src/peers/join.ts";

const own = { name: "lattice-3", peer: "host-3:9000" };
const decide = (answer: JoinAnswer) => decideJoin(answer, { address: "host-1:50051", id: "server-3", own });
const first = { name: "lattice-1", peer: "host-1:9000" };

test("added: it starts with all members, with its own name for itself", () => {
  const unstarted = { name: "", peer: "host-2:9000" };
  const namesake = { name: "lattice-3", peer: "host-9:9000" };
  const members = [first, unstarted, { name: "", peer: own.peer }, namesake];
  expect(decide({ kind: "members", members })).toEqual({
    kind: "begin",
    begin: {
      kind: "joined",
      members: [first, { name: "other-1", peer: "host-2:9000" }, own, { name: "other-3", peer: "host-9:9000" }],
    },
  });
});

test("known with its data lost: the error has the way to join again", () => {
  const step = decide({ kind: "members", members: [first, own] });
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
