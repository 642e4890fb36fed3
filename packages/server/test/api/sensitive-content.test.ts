// Access to output, metrics and tasks of sensitive work, and its audit records.

import { create } from "@bufbuild/protobuf";
import {
  type AllocationId,
  duration,
  minimalSpec,
  type TenantId,
  type UserName,
  type VClusterId,
  WEIGHT_PROFILES,
} from "@lattice/core";
import { pb } from "@lattice/wire";
import { beforeEach, expect, test } from "vitest";
import type { Call } from "../../src/api/call/call.ts";
import { get } from "../../src/api/handlers/allocations.ts";
import { contentOf } from "../../src/api/handlers/content.ts";
import { getDiagnostics } from "../../src/api/handlers/diagnostics.ts";
import { getLogs } from "../../src/api/handlers/logs.ts";
import { compareMetrics, queryMetrics } from "../../src/api/handlers/metrics.ts";
import { createSession } from "../../src/api/handlers/sessions.ts";
import { sendTaskInput } from "../../src/api/handlers/tasks.ts";
import type { Role } from "../../src/base/auth/principal.ts";
import { callAs, principal } from "./call-as.ts";
import { type MemoryPlane, memoryPlane } from "./memory-plane.ts";

let plane: MemoryPlane;
const HOSPITAL = "hospital" as TenantId;
const origin = (user: string) => ({ user: user as UserName, requestId: null, bodyHash: "" });

const as = (user: string, role: Role, tenant: TenantId | null = HOSPITAL) =>
  callAs(plane, principal(user, tenant, role));

/** 1 is sensitive and dr-x's, as is 2; 3 is dr-x's and not sensitive. All run. */
beforeEach(() => {
  plane = memoryPlane();
  plane.apply({
    kind: "vcluster.create",
    origin: origin("root"),
    vcluster: "clinic" as VClusterId,
    tenant: null,
    description: "",
    scheduler: "sensitive_reservation",
    weights: WEIGHT_PROFILES.sensitive_reservation,
    cycleInterval: duration(5_000),
    backfillDepth: 10,
    defaultWalltime: duration(60_000),
    maxWalltime: null,
    isDefault: false,
  });
  for (const [n, vcluster] of ["clinic", "clinic", "hpc-batch"].entries()) {
    plane.addNode(`n${n + 1}`);
    const spec = { ...minimalSpec({ vcluster: vcluster as never }), tenant: HOSPITAL };
    plane.apply({ kind: "allocation.submit", origin: origin("dr-x"), createTenant: true, spec });
    plane.start(String(n + 1), [`n${n + 1}`]);
  }
});

const WAYS: Readonly<Record<string, (call: Call, id: string) => Promise<unknown>>> = {
  logs: (call, id) => getLogs(call, create(pb.LogsRequestSchema, { id })).next(),
  metrics: (call, id) => queryMetrics(call, create(pb.MetricsRequestSchema, { id })),
  diagnostics: (call, id) => getDiagnostics(call, create(pb.DiagnosticsRequestSchema, { id })),
  input: (call, id) => sendTaskInput(call, create(pb.SendTaskInputRequestSchema, { allocationId: id, launchId: "1" })),
  session: (call, id) => createSession(call, create(pb.CreateSessionRequestSchema, { allocationId: id })),
};

/** These act as the user of the work. */
const INSIDE = new Set(["input", "session"]);

const REFUSED = new Set(["forbidden", "not_owner"]);
/** Whether the call was authorized; its further result does not matter. */
const enters = (way: string, call: Call, id: string): Promise<boolean> =>
  WAYS[way]?.(call, id).then(
    () => true,
    (error) => !REFUSED.has(error.problem?.code),
  ) ?? Promise.resolve(false);

const written = () =>
  Array.from(plane.view().audit(), ({ user, action, scope, allocation, detail }) =>
    [user, action, scope, allocation, detail].join(" "),
  ).filter((line) => line.includes(" sensitive "));

test.each(Object.keys(WAYS))(
  "%s of sensitive work are its user's, and of its output the tenant's reviewers'",
  async (way) => {
    expect(await enters(way, as("dr-x", "ClaimingUser"), "1")).toBe(true);
    expect(await enters(way, as("dr-x", "SystemAdmin", null), "1")).toBe(true);
    expect(await enters(way, as("chief", "TenantAdmin"), "1")).toBe(way === "logs");
    for (const role of ["SystemAdmin", "Operator", "ReadOnly", "ClaimingUser", "User"] as const)
      expect([role, await enters(way, as("root", role), "1")]).toEqual([role, false]);
    // Work that is not sensitive: administrators see its content, but run nothing inside it.
    if (!INSIDE.has(way)) expect(await enters(way, as("root", "SystemAdmin"), "3")).toBe(true);
  },
);

test("administrators see its state like that of other work", async () => {
  for (const role of ["SystemAdmin", "TenantAdmin", "Operator"] as const)
    expect((await get(as("root", role), create(pb.GetAllocationRequestSchema, { id: "1" }))).id).toBe("1");
});

test("every access and every refusal has an audit record; other work has none", async () => {
  await enters("logs", as("dr-x", "ClaimingUser"), "1");
  await enters("metrics", as("root", "SystemAdmin"), "1");
  await enters("session", as("chief", "TenantAdmin"), "1");
  await enters("logs", as("root", "SystemAdmin"), "3");
  await enters("logs", as("eve", "User"), "3");
  await expect.poll(() => written().length, { timeout: 60_000 }).toBe(3);
  expect(written()).toEqual([
    "dr-x logs.read sensitive 1 AllocationService.GetLogs",
    "root sensitive.refused sensitive 1 AllocationService.QueryMetrics",
    "chief sensitive.refused sensitive 1 SessionService.CreateSession",
  ]);
});

test("an access without an audit record is not answered", async () => {
  plane.propose = () => Promise.reject(new Error("no leader"));
  await expect(WAYS.metrics?.(as("dr-x", "ClaimingUser"), "1")).rejects.toThrow("no leader");
  expect(await enters("metrics", as("root", "SystemAdmin"), "1")).toBe(false);
  expect(await enters("metrics", as("dr-x", "ClaimingUser"), "3")).toBe(true);
});

test("sensitive work is compared only with sensitive work", async () => {
  const compare = (...ids: string[]) =>
    compareMetrics(as("dr-x", "ClaimingUser"), create(pb.CompareRequestSchema, { ids }));
  expect((await compare("1", "2")).allocations).toHaveLength(2);
  await expect(compare("1", "3")).rejects.toMatchObject({ problem: { code: "invalid_argument" } });
});

test("it stays sensitive when its vCluster changes", () => {
  const record = plane.view().allocation("3" as AllocationId);
  if (record === undefined) throw new Error("3 is gone");
  expect(contentOf(plane.view(), record).sensitive).toBe(false);
  const network = { domain: "sensitive-dr-x-3", vni: 1_000, sensitive: true } as const;
  expect(contentOf(plane.view(), { ...record, network }).sensitive).toBe(true);
});
