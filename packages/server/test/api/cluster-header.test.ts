// A caller that names its cluster is refused by a server of another one on both interfaces, for calls and streams, before
// anything changes.

import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callGrpc, callHttp, callRest, type Running, restOf, startTestApi, streamGrpc } from "./clients.ts";

const OWN = "a".repeat(32);
const OTHER = "b".repeat(32);
const HEADER = "x-lattice-cluster";

let running: Running;
beforeAll(async () => {
  running = await startTestApi();
  running.plane.apply({ kind: "cluster.found", id: OWN });
});
afterAll(async () => {
  await running.close();
});

const list = create(pb.ListAllocationsRequestSchema);
const both = async (cluster: string) => {
  const request = restOf("AllocationService.List", list);
  return [
    await callRest(running, { ...request, headers: { [HEADER]: cluster } }),
    await callGrpc(running, "AllocationService.List", list, { [HEADER]: cluster }),
  ];
};

test("the own cluster is served, and the answer names it", async () => {
  expect(await both(OWN)).toMatchObject([{ json: {} }, { json: {} }]);
  const { headers } = await callHttp(running, restOf("AllocationService.List", list));
  expect(headers[HEADER]).toBe(OWN);
});

test("another cluster is refused", async () => {
  const refused = { problem: { code: "foreign_cluster", status: 409, detail: expect.stringContaining(OWN) } };
  expect(await both(OTHER)).toMatchObject([refused, refused]);
  const proposed = running.plane.proposed.length;
  const cancel = create(pb.CancelRequestSchema, { id: "1" });
  const request = restOf("AllocationService.Cancel", cancel);
  const headers = { ...request.headers, [HEADER]: OTHER };
  expect(await callRest(running, { ...request, headers })).toMatchObject(refused);
  expect(running.plane.proposed).toHaveLength(proposed);
});

test("a stream for another cluster is refused", async () => {
  const stream = streamGrpc(running, "AllocationService.Watch", create(pb.WatchRequestSchema), undefined, {
    [HEADER]: OTHER,
  });
  await expect(stream.next()).rejects.toThrow("The call is for cluster");
});

test("the status names the cluster for clients that want to name it", async () => {
  const status = restOf("AdminService.GetClusterStatus", create(pb.GetClusterStatusRequestSchema));
  expect(await callRest(running, status)).toMatchObject({ json: { cluster_id: OWN } });
});
