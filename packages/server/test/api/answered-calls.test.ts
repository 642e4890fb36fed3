// Calls that need a certain state to succeed: checkpoints and suspended work, a service, a network domain, a launch,
// backups, and members. Each over gRPC and REST.

import { create, type Message } from "@bufbuild/protobuf";
import type { AllocationId, NodeId, UserName } from "@lattice/core";
import { pb } from "@lattice/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Membership } from "../../src/api/call/membership.ts";
import { callGrpc, callRest, type Running, restOf, startTestApi } from "./clients.ts";
import { provesCalls } from "./proven-calls.ts";

provesCalls(import.meta.url);

const ADA = { "x-lattice-user": "ada" };
let running: Running;
beforeEach(async () => {
  running = await startTestApi();
  for (const node of ["n1", "n2"]) running.plane.addNode(node);
});
afterEach(() => running.close());

type Json = Record<string, unknown>;

async function good(rpc: string, message: Message, how: "grpc" | "rest" = "grpc"): Promise<Json> {
  const request = restOf(rpc, message);
  const answer =
    how === "grpc"
      ? await callGrpc(running, rpc, message, ADA)
      : await callRest(running, { ...request, headers: { ...request.headers, ...ADA } });
  if ("problem" in answer) throw new Error(`${rpc}: ${JSON.stringify(answer.problem)}`);
  return answer.json as Json;
}

async function runs(spec: Json, nodes: readonly string[] = ["n1"]): Promise<AllocationId> {
  const allocation = create(pb.AllocationSpecSchema, { entrypoint: "serve", ...spec } as never);
  const { id } = await good("AllocationService.Submit", create(pb.SubmitRequestSchema, { allocation }));
  running.plane.start(String(id), nodes);
  return String(id) as AllocationId;
}

const recordOf = (id: AllocationId) => {
  const record = running.plane.view().allocation(id);
  if (record === undefined) throw new Error(`no ${id}`);
  return record;
};

test("a checkpoint is requested, and suspended work is resumed", async () => {
  const id = await runs({ checkpoint: { strategy: "signal" } });
  const asked = await good("AllocationService.RequestCheckpoint", create(pb.CheckpointRequestSchema, { id }));
  expect(asked).toMatchObject({ id });
  // Written in the grace before its walltime.
  running.plane.apply({
    kind: "attempt.report",
    node: "n1" as NodeId,
    allocation: id,
    attempt: recordOf(id).attempt,
    state: "failed",
    exitCode: null,
    reason: "walltime_exceeded",
    message: "",
    checkpoint: { n: 1, ok: true, bytes: 50, message: "" },
  });
  expect(recordOf(id).phase.kind).toBe("suspended");
  await good("AllocationService.Resume", create(pb.ResumeRequestSchema, { id }), "rest");
  expect(recordOf(id).phase.kind).not.toBe("suspended");
});

test("a service is looked up with its endpoint", async () => {
  const id = await runs({ connectivity: { expose: [{ name: "web", port: 8000 }] } });
  for (const how of ["grpc", "rest"] as const) {
    const found = await good("AdminService.LookupService", create(pb.LookupServiceRequestSchema, { name: "web" }), how);
    expect(found).toMatchObject({ name: "web", endpoints: [{ allocation_id: id, node: "n1", port: 8000 }] });
  }
});

test("a network domain is shown, and gets another grace", async () => {
  await runs({ connectivity: { networkDomain: "blue" } });
  const shown = await good("NetworkService.GetDomain", create(pb.GetDomainRequestSchema, { name: "blue" }));
  expect(shown).toMatchObject({ name: "blue" });
  const grace = create(pb.SetDomainGraceRequestSchema, { name: "blue", graceSeconds: 900 });
  expect(await good("NetworkService.SetDomainGrace", grace, "rest")).toMatchObject({ grace_seconds: 900 });
});

test("the condition of a node, and input to a launch", async () => {
  const condition = await good("NodeService.GetNodeCondition", create(pb.GetNodeConditionRequestSchema, { id: "n1" }));
  expect(JSON.stringify(condition)).toContain("f00d");
  const allocationId = await runs({});
  const input = create(pb.SendTaskInputRequestSchema, { allocationId, launchId: "1", end: true });
  expect(await good("TaskService.SendTaskInput", input)).toEqual({});
  const told = create(pb.ControlLaunchRequestSchema, {
    allocationId,
    launchId: "1",
    acknowledged: [3],
    finished: true,
  });
  expect(await good("TaskService.ControlLaunch", told)).toEqual({});
});

test("an action outside the log runs once per request id", async () => {
  const request = { requestId: "monday" };
  const backup = create(pb.CreateBackupRequestSchema, request);
  const [made, same] = await Promise.all([
    good("AdminService.CreateBackup", backup),
    good("AdminService.CreateBackup", backup, "rest"),
  ]);
  expect(same).toEqual(made);
  expect(await good("AdminService.CreateBackup", backup, "rest")).toEqual(made);
  const { source } = made;
  expect(backupsWritten()).toEqual([source]);
  // Another request with the same id is a conflict.
  const other = create(pb.CreateBackupRequestSchema, { ...request, destination: "elsewhere" });
  expect(await callGrpc(running, "AdminService.CreateBackup", other, ADA)).toMatchObject({ problem: { status: 409 } });
  const transfer = create(pb.TransferLeaderRequestSchema, request);
  expect(await callGrpc(running, "AdminService.TransferLeader", transfer, ADA)).toMatchObject({
    problem: { code: "request_conflict" },
  });
  // Request ids of other users are independent, and requests without an id always run.
  const eve = await callGrpc(running, "AdminService.CreateBackup", backup, { "x-lattice-user": "eve" });
  expect("json" in eve && (eve.json as Json).source).not.toBe(source);
  await good("AdminService.CreateBackup", create(pb.CreateBackupRequestSchema));
  expect(backupsWritten()).toHaveLength(3);
});

const backupsWritten = () =>
  Array.from(running.plane.view().audit(), ({ action, detail }) => (action === "backup.create" ? detail : [])).flat();

test("a backup is written, verified, and restored into an empty cluster", async () => {
  await runs({});
  const made = await good("AdminService.CreateBackup", create(pb.CreateBackupRequestSchema));
  const source = String(made.source);
  const verified = await good("AdminService.VerifyBackup", create(pb.VerifyBackupRequestSchema, { source }), "rest");
  expect(verified).toMatchObject({ ok: true, backup: { allocations: 1 } });
  await running.close();
  running = await startTestApi();
  // The backup must be in the past of the cluster's clock, which advances with its entries.
  for (let entry = 0; entry < 20; entry += 1) running.plane.apply();
  await good("AdminService.RestoreBackup", create(pb.RestoreBackupRequestSchema, { source }));
  expect(running.plane.view().allocation("1" as AllocationId)?.user).toBe("ada" as UserName);
});

test("members are added, lead and are removed", async () => {
  const members = new Set(["server-1"]);
  let term = 1;
  const list = async () => [...members].map((id) => create(pb.MemberSchema, { id, healthy: true }));
  const membership: Membership = {
    list,
    refused: () => undefined,
    add: async ({ id }) => {
      members.add(id);
      return list();
    },
    async remove(id, write) {
      await write();
      members.delete(id);
      return list();
    },
    transfer: async (to) => {
      term += 1;
      return { leader: to ?? "server-1", term };
    },
  };
  Object.assign(running.plane, { membership });
  const add = create(pb.AddMemberRequestSchema, { id: "2", peerAddress: "127.0.0.1:9009" });
  await good("AdminService.AddMember", add);
  expect(members.size).toBe(2);
  const [, second = ""] = members;
  const moved = await good(
    "AdminService.TransferLeader",
    create(pb.TransferLeaderRequestSchema, { to: second }),
    "rest",
  );
  expect(moved).toMatchObject({ leader: second });
  const anywhere = create(pb.TransferLeaderRequestSchema, { requestId: "move" });
  const first = await good("AdminService.TransferLeader", anywhere);
  expect(await good("AdminService.TransferLeader", anywhere, "rest")).toEqual(first);
  expect(term).toBe(3);
  const remove = create(pb.RemoveMemberRequestSchema, { id: second, requestId: "go" });
  const left = await good("AdminService.RemoveMember", remove);
  expect(members.size).toBe(1);
  expect(await good("AdminService.RemoveMember", remove, "rest")).toEqual(left);
  // The audit record was written, but the removal failed.
  members.add(second);
  expect(await good("AdminService.RemoveMember", remove)).toEqual(left);
  expect(members.size).toBe(1);
});
