// A server whose state is not that of the cluster answers no calls on either interface, except the states of all servers:
// its state differs, or lacks entries that were durable before the server started.

import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { callGrpc, callRest, type Running, restOf, startTestApi } from "./clients.ts";

let running: Running;
beforeAll(async () => {
  running = await startTestApi();
});
beforeEach(() => {
  running.plane.divergedReason = "The state of this server at entry 9 differs.";
  running.plane.replayReason = null;
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

test("a server that replays its log asks to try again, and does not judge from an older state", async () => {
  running.plane.divergedReason = null;
  running.plane.replayReason = "This server has just started and has applied entry 0 of 9 of the log.";
  const refused = { problem: { code: "log_unavailable", retryable: true, detail: running.plane.replayReason } };
  const unknown = create(pb.GetAllocationRequestSchema, { id: "999" });
  expect(await both("AllocationService.Get", unknown)).toMatchObject([refused, refused]);
  running.plane.replayReason = null;
  const known = { problem: { code: "unknown_allocation" } };
  expect(await both("AllocationService.Get", unknown)).toMatchObject([known, known]);
});

test("a diverged server still shows the members of the cluster", async () => {
  const shown = { json: { members: [{ id: "server-1" }] } };
  expect(await both("AdminService.GetClusterStatus", create(pb.GetClusterStatusRequestSchema))).toMatchObject([
    shown,
    shown,
  ]);
});
