// Which agents a server accepts, by what they know of the log.

import { create } from "@bufbuild/protobuf";
import { logIndex, type View } from "@lattice/core";
import { pb } from "@lattice/wire";
import { expect, test } from "vitest";
import { judgeAgent } from "../../../src/nodes/agents/judge-agent.ts";
import type { ForeignParty } from "../../../src/state/foreign-clusters.ts";
import { ChainRecord } from "../../../src/state/replica/chain.ts";
import { createTestClock } from "../../base/clock.ts";

const ID = "a".repeat(32);
const hashOf = (log: string): string => log.repeat(16);

/** A server that has applied ten entries of log "a". */
function server() {
  const chain = new ChainRecord({ index: logIndex(0), term: 0, hash: "" });
  for (let n = 1; n <= 10; n += 1) chain.append(logIndex(n), 1, hashOf("a"));
  const refused: ForeignParty[] = [];
  const missing: number[] = [];
  const clock = createTestClock();
  const context = {
    view: () => ({ identity: { id: ID, generation: 1, former: [] } }) as unknown as View,
    chain,
    waitFor: (_: number, signal: AbortSignal) =>
      new Promise<void>((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    foreign: { refused: async (met: ForeignParty) => void refused.push(met) },
    missing: { known: (_: string, index: number) => void missing.push(index) },
    clock,
  };
  const judge = (index: number, log: string, clusterId = ID) => {
    const knownLog = { index, hash: hashOf(log), termHash: hashOf(log) };
    const hello = create(pb.HelloSchema, { nodeId: "n1", clusterId, clusterGeneration: 1, knownLog });
    return judgeAgent(context, hello, new AbortController().signal);
  };
  return { judge, refused, missing, clock };
}

test("an agent that knows an entry of the server's log is accepted", async () => {
  const { judge, refused } = server();
  expect(await judge(7, "a")).toBeNull();
  expect(await judge(0, "")).toBeNull();
  expect(refused).toEqual([]);
});

test("an agent that knows another entry is refused and reported", async () => {
  const { judge, refused } = server();
  expect(await judge(7, "b")).toMatchObject({ code: "server_log_differs", detail: expect.stringContaining("entry 7") });
  expect(refused).toMatchObject([{ peer: "agent", subject: "n1", cluster: ID, node: "n1" }]);
});

test("an agent that knows a later entry is refused, and its entry counts as missing", async () => {
  const { judge, missing, clock } = server();
  const verdict = judge(12, "a");
  await clock.advance(6_000);
  expect(await verdict).toMatchObject({ code: "server_behind" });
  expect(missing).toEqual([12]);
});

test("an agent of another cluster is refused whatever it knows", async () => {
  const { judge } = server();
  expect(await judge(7, "a", "b".repeat(32))).toMatchObject({ code: "foreign_cluster" });
});
