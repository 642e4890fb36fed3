// Many simulated nodes in one process against a fake server: they arrive, beat, run and stop.

import { pb } from "@lattice/wire";
import pino from "pino";
import { expect, test } from "vitest";
import { count } from "../src/hollow/census.ts";
import { startAgent } from "../src/index.ts";
import { fakeServer, found } from "./fake-server.ts";
import { agentOptions } from "./rig.ts";

test("200 hollow nodes connect, send heartbeats, run and stop", async () => {
  const server = await fakeServer();
  const hollow = { count: 200, prefix: "h-", runtimeMs: 20, nodesPerGroup: 50 };
  const agent = await startAgent(agentOptions(server.address, "", { hollow }), {
    log: pino({ level: "silent" }),
    version: "test",
  });
  await found(() => agent.connected() === 200);
  expect(new Set(server.hellos.map((hello) => hello.nodeId)).size).toBe(200);
  expect(new Set(server.hellos.map((hello) => hello.group)).size).toBe(4);
  expect(server.hellos.every((hello) => hello.capabilities?.hollow)).toBe(true);
  server.run({ allocationId: "1", command: ["true"] });
  await found(() => server.reports.filter((r) => r.state === pb.AllocationState.COMPLETED).length === 200);
  expect(server.reports.filter((r) => r.state === pb.AllocationState.RUNNING)).toHaveLength(200);
  server.run({ allocationId: "2", command: ["true"], variables: { LATTICE_HOLLOW_RUNTIME_MS: "60000" } });
  await found(() => agent.live() === 200);
  server.stop({ allocationId: "2" });
  await found(() => server.reports.filter((r) => r.reason === "stopped").length === 200);
  await found(() => server.heartbeats.length > 600);
  await agent.close();
  await server.close();
});

test("the census counts connected nodes and the most Hellos", () => {
  const node = (connected: boolean, hellos: number) => ({ connected: () => connected, hellos: () => hellos });
  expect(count([node(true, 1), node(false, 3), node(true, 2)])).toEqual({
    nodes: 3,
    connected: 2,
    hellos: 6,
    hellos_most: 3,
  });
});
