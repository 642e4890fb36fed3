// One list from several sources: each server that any source knows is listed once.

import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import { expect, test } from "vitest";
import type { EtcdMember } from "../../src/log/index.ts";
import { formatPeer } from "../../src/peers/address.ts";
import { listMembers, type MemberSources } from "../../src/peers/members.ts";

const etcd = (n: number, more: Partial<EtcdMember> = {}): EtcdMember => ({
  id: `a${n}`,
  name: `lattice-${n}`,
  peerUrls: [`http://host-${n}:9000`],
  clientUrls: ["http://127.0.0.1:2379"],
  learner: false,
  healthy: true,
  leader: false,
  version: null,
  raftTerm: null,
  raftIndex: null,
  databaseBytes: null,
  ...more,
});
const there = (n: number) => ({
  id: `server-${n}`,
  name: formatPeer({ id: `server-${n}`, address: `host-${n}:50051`, token: "secret", entryVersion: 1 }),
});
const known = (n: number) => ({ id: `server-${n}`, peer: `host-${n}:9000` });
const answer = (n: number, appliedIndex = "10"): [string, pb.GetMemberStatusResponse] => [
  `server-${n}`,
  create(pb.GetMemberStatusResponseSchema, { id: `server-${n}`, serverVersion: "1.2.3", appliedIndex }),
];
const sources = (more: Partial<MemberSources>): MemberSources => ({
  self: { id: "server-1", address: "host-1:50051" },
  leader: "server-1",
  lastIndex: 12,
  present: [],
  known: [],
  configured: [],
  answers: new Map([answer(1)]),
  etcd: [],
  ...more,
});

test("a single server is one member", () => {
  expect(listMembers(sources({}))).toMatchObject([
    { id: "server-1", address: "host-1:50051", leader: true, healthy: true, appliedIndex: "10", lag: 2 },
  ]);
});

test("three servers, one of which does not answer", () => {
  const listed = listMembers(
    sources({
      present: [there(1), there(2), there(3)],
      known: [known(1), known(2), known(3)],
      answers: new Map([answer(1, "12"), answer(2)]),
      etcd: [etcd(1, { leader: true }), etcd(2), etcd(3, { healthy: false })],
    }),
  );
  expect(listed).toMatchObject([
    { id: "server-1", leader: true, healthy: true, lag: 0, serverVersion: "1.2.3", etcd: { leader: true } },
    { id: "server-2", leader: false, healthy: true, lag: 2, etcd: { name: "lattice-2", peerAddress: "host-2:9000" } },
    { id: "server-3", address: "host-3:50051", healthy: false, serverVersion: "", etcd: { healthy: false } },
  ]);
  expect(listed[2]?.appliedIndex).toBeUndefined();
  expect(JSON.stringify(listed, (_, v) => (typeof v === "bigint" ? String(v) : v))).not.toContain("secret");
});

test("an absent server is known from etcd, from the configuration, or only by its address", () => {
  const listed = listMembers(
    sources({
      present: [there(1)],
      known: [known(1), known(2)],
      configured: [known(2), known(3)],
      etcd: [etcd(1), etcd(2, { healthy: false }), etcd(4), etcd(5, { name: "", healthy: false })],
    }),
  );
  expect(listed.map(({ id, healthy }) => [id, healthy])).toEqual([
    ["host-5:9000", false],
    ["lattice-4", false],
    ["server-1", true],
    ["server-2", false],
    ["server-3", false],
  ]);
});

test("a server whose member was removed no longer belongs to the cluster, unless etcd lists no members", () => {
  const gone = { present: [there(1)], known: [known(1), known(2)] };
  expect(listMembers(sources({ ...gone, etcd: [etcd(1)] })).map(({ id }) => id)).toEqual(["server-1"]);
  expect(listMembers(sources(gone)).map(({ id }) => id)).toEqual(["server-1", "server-2"]);
});

test("the answer of a server about its own member takes precedence", () => {
  const [id, standing] = answer(2);
  standing.etcd = create(pb.EtcdMemberSchema, { id: "a2", name: "lattice-2", raftTerm: "7", healthy: true });
  const answers = new Map([answer(1), [id, standing] as const]);
  const listed = listMembers(sources({ present: [there(2)], known: [known(2)], answers, etcd: [etcd(2)] }));
  expect(listed[1]).toMatchObject({ id: "server-2", etcd: { raftTerm: "7" } });
  expect(listed).toHaveLength(2);
});

test("a removed server is gone at once, although the store lists it until its lease ends", () => {
  const listed = listMembers(
    sources({ present: [there(1), there(2)], known: [known(1)], answers: new Map([answer(1)]), etcd: [etcd(1)] }),
  );
  expect(listed.map(({ id }) => id)).toEqual(["server-1"]);
  const external = listMembers(
    sources({ present: [there(1), there(2)], answers: new Map([answer(1)]), etcd: [etcd(1)] }),
  );
  expect(external.map(({ id }) => id)).toEqual(["lattice-1", "server-1", "server-2"]);
});
