// Two servers of different clusters over a real connection: each end refuses the other, whatever the other end does.

import { credentials, Metadata, Server, ServerCredentials, status } from "@grpc/grpc-js";
import { type ClusterIdentity, logIndex } from "@lattice/core";
import { afterEach, describe, expect, test } from "vitest";
import { CLUSTER_HEADER } from "../../src/base/auth/peer-headers.ts";
import { clusterHeader, foreignCluster } from "../../src/base/cluster-identity.ts";
import { type ClusterCheck, servingCluster } from "../../src/peers/check-cluster.ts";
import { connectPeer, type PeerClient } from "../../src/peers/client.ts";
import { type PeerServiceParts, peerService } from "../../src/peers/service.ts";

const identity = (letter: string, former: readonly string[] = []): ClusterIdentity => ({
  id: letter.repeat(32),
  generation: 1,
  former,
});
const [A, B] = [identity("a"), identity("b")];

const closers: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A check that records what it refused. */
function checkOf(own: ClusterIdentity | null): ClusterCheck & { readonly met: string[] } {
  const met: string[] = [];
  return { own: () => own, refused: ({ cluster, address }) => met.push(`${cluster[0]} at ${address}`), met };
}

interface Ends {
  readonly caller: ClusterCheck;
  readonly callee: ClusterCheck;
}

async function connected({ caller, callee }: Ends) {
  const proposed: string[] = [];
  const propose = async (command: object) => {
    proposed.push(JSON.stringify(command));
    return { outcome: { kind: "accepted", id: "1" }, index: logIndex(7) };
  };
  const history = { range: async function* () {}, through: () => logIndex(7) };
  const parts = { leader: { sequencer: () => ({ propose }) }, history, token: "t" } as unknown as PeerServiceParts;
  const { definition, implementation } = servingCluster(peerService(parts), callee);
  const server = new Server();
  server.addService(definition, implementation);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  closers.push(() => server.forceShutdown());
  const name = { id: "s1", address: `127.0.0.1:${port}`, token: "t", entryVersion: 2 };
  const client = connectPeer(name, credentials.createInsecure(), caller);
  closers.push(() => client.close());
  return { client, proposed, address: name.address };
}

const command = { kind: "notice.clear", key: "k" } as const;
const readAll = async (client: PeerClient) => {
  const pages = client.readHistory(logIndex(0), logIndex(7), new AbortController().signal);
  for await (const _ of pages);
};

test("a server of another cluster is refused by the server that it calls, and both record it", async () => {
  const [caller, callee] = [checkOf(A), checkOf(B)];
  const { client, proposed, address } = await connected({ caller, callee });
  await expect(client.propose(command)).rejects.toMatchObject({ problem: { code: "not_leader" } });
  expect(proposed).toEqual([]);
  expect(callee.met).toEqual(["a at 127.0.0.1"]);
  expect(caller.met).toEqual([`b at ${address}`]);
  await expect(readAll(client)).rejects.toMatchObject({ problem: { code: "foreign_cluster" } });
});

test("an answer of another cluster is refused also when the server that is called checks nothing", async () => {
  const caller = checkOf(A);
  const careless: ClusterCheck = { own: () => null, refused: () => undefined };
  const { client, address } = await connected({ caller, callee: careless });
  // It names its cluster, but takes every caller.
  Object.assign(careless, { own: claimsOnlyInAnswers() });
  await expect(client.propose(command)).rejects.toMatchObject({ problem: { code: "not_leader" } });
  expect(caller.met).toEqual([`b at ${address}`]);
  await expect(readAll(client)).rejects.toMatchObject({ problem: { code: "foreign_cluster" } });
});

/** `null` when the caller is judged, and cluster B when the answer is made. */
function claimsOnlyInAnswers(): () => ClusterIdentity | null {
  let calls = 0;
  return () => {
    calls += 1;
    return calls % 2 === 1 ? null : B;
  };
}

test("servers of one cluster work together, also while one of them does not know its cluster yet", async () => {
  for (const ends of [
    { caller: checkOf(A), callee: checkOf(A) },
    { caller: checkOf(null), callee: checkOf(A) },
    { caller: checkOf(A), callee: checkOf(null) },
    { caller: checkOf(identity("a", [B.id])), callee: checkOf(B) },
  ]) {
    const { client, proposed } = await connected(ends);
    expect(await client.propose(command)).toMatchObject({ index: 7 });
    expect(proposed).toHaveLength(1);
    expect([ends.caller.met, ends.callee.met]).toEqual([[], []]);
  }
});

test("a stream that a server of another cluster relays for an agent is refused", async () => {
  const callee = checkOf(B);
  const served: string[] = [];
  const service = servingCluster(
    { definition: {} as never, implementation: { connect: () => void served.push("connect") } as never },
    callee,
  );
  const failed: unknown[] = [];
  const metadata = new Metadata();
  const call = { metadata, emit: (_: string, error: unknown) => failed.push(error), getPeer: () => "10.0.0.9:4711" };
  const { connect } = service.implementation as unknown as { connect(call: object): void };
  connect(call);
  expect(served).toEqual(["connect"]);
  metadata.set(CLUSTER_HEADER, clusterHeader(A));
  connect(call);
  expect(served).toEqual(["connect"]);
  expect(failed).toMatchObject([{ code: status.FAILED_PRECONDITION }]);
  expect(callee.met).toEqual(["a at 10.0.0.9"]);
});

describe("the header of a cluster", () => {
  test.each([
    ["the same cluster", clusterHeader(A), A, null],
    ["another cluster", clusterHeader(A), B, A.id],
    ["a caller that has not replayed a restore yet", clusterHeader(A), identity("b", [A.id]), null],
    ["a server that has not replayed a restore yet", clusterHeader(identity("b", [A.id])), A, null],
    ["an unknown cluster", clusterHeader(null), A, null],
    ["text that is no identity", "cluster", A, null],
    ["a server without a cluster", clusterHeader(A), null, null],
  ])("names %s", (_, header, own, foreign) => {
    expect(foreignCluster(header, own)).toBe(foreign);
  });
});
