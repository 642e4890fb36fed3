// A server that lost its data replaces its own member in one request: the lost one is removed, and the new one added.

import { create } from "@bufbuild/protobuf";
import { ProblemError, pb } from "@lattice/wire";
import { pino } from "pino";
import { expect, test } from "vitest";
import type { Leader } from "../../src/lead/leader/lead.ts";
import type { EtcdMember, ReplicatedLog, SharedLog } from "../../src/log/index.ts";
import { formatPeer } from "../../src/peers/address.ts";
import { createMembership } from "../../src/peers/membership.ts";
import type { Roster } from "../../src/peers/roster.ts";

const peerOf = (n: number): string => `host-${n}:9000`;
const etcd = (n: number, healthy: boolean, name = `lattice-${n}`): EtcdMember => ({
  ...{ id: `a${n}${name === "" ? "-new" : ""}`, name, peerUrls: [`http://${peerOf(n)}`], clientUrls: [] },
  ...{ learner: name === "", healthy, leader: n === 1, version: null },
  ...{ raftTerm: null, raftIndex: null, databaseBytes: null },
});

interface Setting {
  /** Servers whose program or member answers. */
  readonly answering: readonly number[];
  readonly refusal?: string;
}

/** Three servers, the first of which is asked; the store is a list. */
function cluster({ answering, refusal }: Setting) {
  let members = [1, 2, 3].map((n) => etcd(n, answering.includes(n)));
  const done: string[] = [];
  const shared: SharedLog = {
    managed: true,
    known: () => [1, 2, 3].map((n) => ({ id: `server-${n}`, peer: peerOf(n) })),
    ownMember: async () => members[0] ?? null,
    members: async () => members,
    async add({ id, peer }) {
      if (members.some(({ peerUrls }) => peerUrls[0] === `http://${peer}`)) return members;
      done.push(`add ${id}`);
      members = [...members, etcd(Number(id.at(-1)), false, "")];
      return members;
    },
    refuseRemove: async () => refusal ?? null,
    async remove({ id }) {
      done.push(`remove ${id}`);
      members = members.filter((member) => member.id !== id);
      return members;
    },
    forget: async () => undefined,
    favour: async () => undefined,
  };
  const name = (n: number) => formatPeer({ id: `server-${n}`, address: `host-${n}:1`, token: "t", entryVersion: 1 });
  const log = {
    shared,
    present: () => answering.map((n) => ({ id: `server-${n}`, name: name(n) })),
    status: () => ({ leader: name(1), lastIndex: 10, term: 1 }),
  } as unknown as ReplicatedLog;
  const client = (id: string) => ({
    memberStatus: async () => create(pb.GetMemberStatusResponseSchema, { id, appliedIndex: "10" }),
  });
  const membership = createMembership({
    foreign: { refused: async () => undefined },
    status: {
      ...{ serverId: "server-1", version: "1", appliedIndex: () => 10, historyThrough: () => 10 },
      ...{ certificate: () => null, apiUrl: () => "", ownMember: shared.ownMember },
      ...{ stateMarks: () => [], diverged: () => false },
    },
    address: "host-1:1",
    log,
    leader: {} as Leader,
    roster: {
      others: () => answering.filter((n) => n !== 1).map((n) => ({ id: `server-${n}` })),
      client,
    } as unknown as Roster,
    configured: [],
    logger: pino({ level: "silent" }),
    metrics: { membershipChange: () => undefined, leadershipTransfer: () => undefined },
  });
  const replace = (n: number, write = async () => void done.push("record")) =>
    membership.add({ id: `server-${n}`, peer: peerOf(n), replaces: write });
  return { membership, replace, done };
}

const namesOf = (members: readonly pb.Member[]): readonly string[] =>
  members.map(({ id, etcd: own }) => `${id} ${own?.name === "" ? "(new)" : own?.name}`);

test("a lost member is recorded, removed and added, and a repeated request changes nothing", async () => {
  const { replace, done } = cluster({ answering: [1, 2] });
  const after = ["server-1 lattice-1", "server-2 lattice-2", "server-3 (new)"];
  expect(namesOf(await replace(3))).toEqual(after);
  expect(done).toEqual(["record", "remove a3", "add server-3"]);
  expect(namesOf(await replace(3))).toEqual(after);
  expect(done).toHaveLength(3);
});

test("a crash after the removal is completed by the same request", async () => {
  const { membership, replace, done } = cluster({ answering: [1, 2] });
  await membership.remove("server-3", async () => undefined);
  expect(namesOf(await replace(3))).toContain("server-3 (new)");
  expect(done).toEqual(["remove a3", "add server-3"]);
});

test.each([
  ["that answers", { answering: [1, 2, 3] }, "conflict", "server-3 is not lost: it answers."],
  ["whose loss is that of a majority", { answering: [1], refusal: "2 of 3 must answer" }, "majority_at_risk", "2 of 3"],
])("a member %s is not replaced, and nothing changes", async (_what, setting, code, detail) => {
  const { replace, done } = cluster(setting);
  const refused = await replace(3).catch((error: ProblemError) => error);
  expect(refused).toBeInstanceOf(ProblemError);
  expect((refused as ProblemError).problem).toMatchObject({ code, detail: expect.stringContaining(detail) });
  expect(done).toEqual([]);
});

test("without a leader to record it, nothing is removed", async () => {
  const { replace, done } = cluster({ answering: [1, 2] });
  const write = () => Promise.reject(new ProblemError("not_leader"));
  await expect(replace(3, write)).rejects.toMatchObject({ problem: { code: "not_leader" } });
  expect(done).toEqual([]);
});

test("without the wish to replace, a member without its data stays a member", async () => {
  const { membership, done } = cluster({ answering: [1, 2] });
  const members = await membership.add({ id: "server-3", peer: peerOf(3), replaces: null });
  expect(namesOf(members)).toContain("server-3 lattice-3");
  expect(done).toEqual([]);
});
