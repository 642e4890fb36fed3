// Decisions about changes of the members, from the list of members.

import { create } from "@bufbuild/protobuf";
import { ProblemError, pb } from "@lattice/wire";
import { describe, expect, test } from "vitest";
import { EtcdError } from "../../src/log/etcd/client/etcd-error.ts";
import {
  asProblem,
  chooseSuccessor,
  findMember,
  refuseNewcomer,
  refuseReplacement,
  refuseTransfer,
  startedMember,
} from "../../src/peers/decide.ts";

const member = (n: number, more: Partial<pb.Member> = {}): pb.Member => {
  const etcd = { id: `a${n}`, name: `lattice-${n}`, peerAddress: `host-${n}:9000` };
  const plain = create(pb.MemberSchema, { id: `server-${n}`, healthy: true, appliedIndex: "100", lag: 0, etcd });
  return Object.assign(plain, more);
};
const three = [member(1, { leader: true }), member(2), member(3)];
const codeOf = (error: ProblemError | null): string | null => error?.problem.code ?? null;

describe("a new member", () => {
  test("is accepted at a new address, and again at the same one", () => {
    expect(refuseNewcomer(three, { id: "server-4", peer: "host-4:9000" })).toBeNull();
    expect(refuseNewcomer(three, { id: "server-3", peer: "host-3:9000" })).toBeNull();
  });
  test("is refused with the id or the address of another member", () => {
    const moved = refuseNewcomer(three, { id: "server-3", peer: "host-4:9000" });
    expect(codeOf(moved)).toBe("conflict");
    expect(moved?.problem).toMatchObject({
      detail: "server-3 is already a member, at host-3:9000.",
      hint: expect.stringContaining("remove-member server-3"),
    });
    expect(codeOf(refuseNewcomer(three, { id: "server-4", peer: "host-3:9000" }))).toBe("conflict");
  });
  test("may replace a member that was added and never started", () => {
    const added = member(3, { id: "host-3:9000" });
    if (added.etcd !== undefined) added.etcd.name = "";
    expect(refuseNewcomer([member(1), added], { id: "server-3", peer: "host-3:9000" })).toBeNull();
  });
});

test("a member is found by its server's id, and by its name in etcd", () => {
  for (const id of ["server-2", "lattice-2", "a2"]) expect(findMember(three, id)?.id).toBe("server-2");
  expect(findMember(three, "server-9")).toBeNull();
  expect(findMember([create(pb.MemberSchema, { id: "x" })], "")).toBeNull();
});

describe("a replacement", () => {
  const etcd = (healthy: boolean, name = "lattice-3") => ({ ...member(3).etcd, name, healthy }) as pb.EtcdMember;
  test("is refused while the server or its etcd member answers", () => {
    const answering = refuseReplacement(member(3, { etcd: etcd(false) }));
    expect(codeOf(answering)).toBe("conflict");
    expect(answering?.problem.detail).toBe("server-3 is not lost: it answers.");
    const half = refuseReplacement(member(3, { healthy: false, etcd: etcd(true) }));
    expect(half?.problem.detail).toBe("server-3 is not lost: its etcd member answers.");
    expect(refuseReplacement(member(3, { healthy: false, etcd: etcd(false) }))).toBeNull();
  });
  test("concerns a member that was started, under the id of the server or at its address", () => {
    const own = { id: "server-3", peer: "host-3:9000" };
    expect(startedMember(three, own)?.id).toBe("server-3");
    expect(startedMember(three, { ...own, peer: "host-9:9000" })?.id).toBe("server-3");
    expect(startedMember(three, { ...own, id: "server-9" })).toBeNull();
    expect(startedMember([member(3, { etcd: etcd(false, "") })], own)).toBeNull();
    // The cluster has forgotten whose member it is.
    expect(startedMember([member(1), member(3, { id: "lattice-3" })], own)?.id).toBe("lattice-3");
  });
});

describe("a successor", () => {
  test.each([
    ["unknown_member", "server-9", three],
    ["conflict", "server-2", [member(1), member(2, { healthy: false })]],
    ["conflict", "server-2", [member(1), member(2, { lag: 1_001 })]],
    [null, "server-2", [member(1), member(2, { lag: 1_000 })]],
  ])("is refused with %s", (code, to, members) => {
    expect(codeOf(refuseTransfer(members, to))).toBe(code);
  });
  test("is the server with the highest index, the first of equals", () => {
    expect(chooseSuccessor(three, "server-1")).toBe("server-2");
    expect(chooseSuccessor([member(1), member(2), member(3, { appliedIndex: "101" })], "server-1")).toBe("server-3");
    expect(chooseSuccessor([member(1), member(2, { healthy: false })], "server-1")).toBeNull();
  });
});

test("errors of the engine become problems with a code", () => {
  const said = (cause: unknown): string => asProblem(cause, "it failed").problem.code;
  expect(said(new EtcdError("refused", "no"))).toBe("majority_at_risk");
  const busy = asProblem(new EtcdError("busy", "no"), "it failed").problem;
  expect(busy).toMatchObject({ code: "majority_at_risk", retryAfterSeconds: 1 });
  expect(said(new EtcdError("not_found", "no"))).toBe("unknown_member");
  expect(said(new EtcdError("unavailable", "no"))).toBe("log_unavailable");
  expect(said(new ProblemError("conflict"))).toBe("conflict");
});
