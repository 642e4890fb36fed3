// Extending the walltime of running work: what it may delay, and who may do it anyway.

import { create } from "@bufbuild/protobuf";
import {
  type AllocationId,
  instant,
  minimalSpec,
  type NodeId,
  seconds,
  type TenantId,
  type UserName,
  type VClusterId,
} from "@lattice/core";
import { ProblemError, pb } from "@lattice/wire";
import { beforeEach, expect, test } from "vitest";
import type { Call } from "../../src/api/call/call.ts";
import { update } from "../../src/api/handlers/allocations.ts";
import type { Role } from "../../src/base/auth/principal.ts";
import { firstDelayed } from "../../src/lead/insight/extension.ts";
import { callAs, principal } from "./call-as.ts";
import { type MemoryPlane, memoryPlane } from "./memory-plane.ts";

let plane: MemoryPlane;
const id = (text: string) => text as AllocationId;
/** After the start of the first. */
const startOf = (): number => {
  const phase = plane.view().allocation(id("1"))?.phase;
  return phase?.kind === "running" ? phase.startedAt : 0;
};
const reserved = (after: number, node = "n1", whose = "2") => [
  { reservations: [{ allocation: id(whose), startsAt: instant(startOf() + after), nodes: [node as NodeId] }] },
];

function as(role: Role, cycles: ReturnType<typeof reserved>): Call {
  const consult = async (question: { kind: string; id: AllocationId; walltime: never }) =>
    firstDelayed(plane.view(), cycles, question);
  return callAs({ ...plane, askScheduler: consult as never }, principal("ada", "physics", role));
}

function submit(user: string, tenant: string): void {
  plane.apply({
    kind: "allocation.submit",
    origin: { user: user as UserName, requestId: null, bodyHash: "" },
    createTenant: true,
    spec: {
      ...minimalSpec({ vcluster: "hpc-batch" as VClusterId }),
      tenant: tenant as TenantId,
      lifecycle: { ...minimalSpec({ vcluster: "hpc-batch" as VClusterId }).lifecycle, walltime: seconds(60) },
    },
  });
}

/** 1 of ada runs on n1 for a minute; 2 of a colleague and 3 of another tenant wait. */
beforeEach(() => {
  plane = memoryPlane();
  plane.addNode("n1");
  submit("ada", "physics");
  plane.start("1", ["n1"]);
  submit("bob", "physics");
  submit("eve", "biology");
});

const longer = (call: Call, walltimeSeconds: number) =>
  update(call, create(pb.UpdateAllocationRequestSchema, { id: "1", walltimeSeconds }));
const walltime = () => plane.view().allocation(id("1"))?.spec.lifecycle.walltime;

test("a user may not delay a reservation by a longer walltime; an administrator may", async () => {
  const refused = await longer(as("User", reserved(100_000)), 3_600).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ProblemError);
  const { code, detail } = (refused as ProblemError).problem;
  expect([code, detail]).toEqual([
    "conflict",
    expect.stringContaining("the reservation of allocation 2 on these nodes"),
  ]);
  expect(walltime()).toBe(60_000);
  // Work of another tenant is not named.
  const other = longer(as("User", reserved(100_000, "n1", "3")), 3_600);
  await expect(other).rejects.toMatchObject({
    problem: { detail: expect.stringContaining("the reservation of another allocation") },
  });

  // Ends in time, including grace; another node; and a shorter walltime.
  await longer(as("User", reserved(100_000)), 70);
  expect(walltime()).toBe(70_000);
  await longer(as("User", reserved(100_000, "n2")), 3_600);
  await longer(as("User", reserved(10_000)), 3_500);
  expect(walltime()).toBe(3_500_000);
  await longer(as("TenantAdmin", reserved(100_000)), 7_200);
  expect(walltime()).toBe(7_200_000);
});

test("a task group is as long as its elements, and pending work delays nothing", () => {
  const { view } = plane;
  expect(firstDelayed(view(), reserved(1), { id: id("2"), walltime: seconds(9_999) })).toBeNull();
  expect(firstDelayed(view(), reserved(1), { id: id("77"), walltime: seconds(9_999) })).toBeNull();
  plane.apply({
    kind: "group.submit",
    origin: { user: "ada" as UserName, requestId: null, bodyHash: "" },
    createTenant: true,
    spec: plane.view().allocation(id("1"))?.spec as never,
    range: { start: 0, end: 1, step: 1 },
    concurrency: 2,
  });
  plane.addNode("n2");
  plane.start("4_0", ["n2"]);
  const asked = { id: id("4"), walltime: seconds(9_999) };
  expect(firstDelayed(view(), reserved(500_000, "n2"), asked)).toMatchObject({ allocation: "2" });
  expect(firstDelayed(view(), reserved(500_000, "n1"), asked)).toBeNull();
});
