// An agent among servers of several clusters and ages: it starts, ends and forgets work only on orders of its own cluster,
// from a server that knows at least as much of the log as the agent.

import { pb } from "@lattice/wire";
import pino from "pino";
import { afterEach, expect, test } from "vitest";
import { found } from "../fake-server.ts";
import { type Rig, rig } from "../rig.ts";

const [A, B] = ["a".repeat(32), "b".repeat(32)];

interface Line {
  readonly msg: string;
  readonly code?: string;
  readonly cluster?: string;
  readonly attempt?: string;
}

let r: Rig;
const heard: Line[] = [];
afterEach(async () => {
  heard.length = 0;
  await r.close();
});

/** An agent that is connected to its cluster A, and knows entry 10 of the log. */
async function bound() {
  const log = pino({ level: "info" }, { write: (line) => void heard.push(JSON.parse(line) as Line) });
  r = await rig({ log });
  const { server } = r;
  Object.assign(server.settings, { cluster: A, logIndex: 10 });
  server.disconnect();
  await found(() => server.hellos.length === 2 && server.connected() === 1);
  await found(() => r.agent.connected() === 1);
  return server;
}

test.each([
  { name: "a server that has lost entries", cluster: A, logIndex: 9, code: "server_behind" },
  { name: "a server on a copy that went its own way", cluster: A, logIndex: 900, code: "server_log_differs", log: "b" },
  { name: "another cluster", cluster: B, logIndex: 900, code: "server_foreign_cluster" },
  { name: "a server that names no cluster", cluster: "", logIndex: 900, code: "server_foreign_cluster" },
])(
  "$name ends no work, and the node serves its own cluster afterwards",
  async ({ cluster, logIndex, code, log = "a" }) => {
    const server = await bound();
    server.run({ allocationId: "1", command: ["sleep", "600"] });
    await server.running("1");
    Object.assign(server.settings, { cluster, logIndex, log });
    server.disconnect();
    await found(() => heard.find((line) => line.code === code));
    server.stop({ allocationId: "1", reason: "the state does not know it" });
    Object.assign(server.settings, { cluster: A, logIndex: 11, log: "a" });
    await found(() => r.agent.connected() === 1);
    expect(server.hellos.at(-1)).toMatchObject({ clusterId: A, attempts: [{ allocationId: "1" }] });
    expect(server.reports.map(({ state }) => state)).toEqual([pb.AllocationState.RUNNING]);
  },
);

test("orders of a server whose log goes back are not followed, and the stream ends", async () => {
  const server = await bound();
  server.run({ allocationId: "1", command: ["sleep", "600"] });
  await server.running("1");
  const hellos = server.hellos.length;
  server.settings.logIndex = 9;
  server.stop({ allocationId: "1" });
  server.run({ allocationId: "2", command: ["true"] });
  await found(() => heard.find((line) => line.code === "server_behind"));
  server.settings.logIndex = 12;
  await found(() => server.hellos.length > hellos && r.agent.connected() === 1);
  expect(server.hellos.at(-1)?.attempts.map(({ allocationId }) => allocationId)).toEqual(["1"]);
});

test("the log names the server and the cluster that recorded the end of an attempt", async () => {
  const server = await bound();
  server.run({ allocationId: "1", command: ["true"] });
  await server.end("1");
  server.send({ case: "forget", value: { $typeName: "lattice.v1.ForgetOrder", allocationId: "1", attempt: 1 } });
  const line = await found(() => heard.find(({ msg }) => msg === "a server has recorded the end of an attempt"));
  expect(line).toMatchObject({ attempt: "1.1", server: server.address, cluster: A, log_index: 10 });
});
