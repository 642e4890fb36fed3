// A server whose state differs from that of the others answers no calls on either interface, except the states of all servers.

import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callGrpc, callRest, type Running, restOf, startTestApi } from "./clients.ts";

let running: Running;
beforeAll(async () => {
  running = await startTestApi();
  running.plane.divergedReason = "The state of this server at entry 9 differs.";
});
afterAll(async () => {
  await running.close();
});

const both = async (rpc: string, message: Parameters<typeof restOf>[1]) => [
  await callRest(running, restOf(rpc, message)),
  await callGrpc(running, rpc, message),
];

test("a diverged server refuses reads and writes with the remedy", async () => {
  const refused = {
    problem: {
      code: "state_diverged",
      detail: "The state of this server at entry 9 differs.",
      hint: expect.stringContaining("restart"),
    },
  };
  const proposed = running.plane.proposed.length;
  expect(await both("AllocationService.List", create(pb.ListAllocationsRequestSchema))).toMatchObject([
    refused,
    refused,
  ]);
  const cancel = create(pb.CancelRequestSchema, { id: "1" });
  expect(await both("AllocationService.Cancel", cancel)).toMatchObject([refused, refused]);
  expect(running.plane.proposed.length).toBe(proposed);
});

test("a diverged server still shows the members of the cluster", async () => {
  const shown = { json: { members: [{ id: "server-1" }] } };
  expect(await both("AdminService.GetClusterStatus", create(pb.GetClusterStatusRequestSchema))).toMatchObject([
    shown,
    shown,
  ]);
});
