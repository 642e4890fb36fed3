// Checks every RPC with every role. The expectations are a second, independent table, so that an error in the rules
// shows.

import type { TenantId, UserName } from "@lattice/core";
import { ProblemError } from "@lattice/wire";
import { describe, expect, test } from "vitest";
import { authorize, authorizeList, reaches, type Target } from "../../src/api/access/authorize.ts";
import { RULES, type RuleName } from "../../src/api/access/rules.ts";
import { type Principal, ROLES, type Role } from "../../src/base/auth/principal.ts";

const principal = (...roles: Role[]): Principal => ({
  user: "ada" as UserName,
  tenant: "physics" as TenantId,
  roles,
  scopes: [],
});
const target = (tenant: string | null, user: string | null): Target => ({
  tenant: tenant as TenantId | null,
  user: user as UserName | null,
});
const OWN = target("physics", "ada");
const COLLEAGUES = target("physics", "bob");
const STRANGERS = target("biology", "eve");
const UNOWNED = target(null, null);

const SEES = [
  "AllocationService.Get",
  "AllocationService.List",
  "AllocationService.Watch",
  "AllocationService.Explain",
  "AllocationService.GetTimeline",
  "AllocationService.GetCheckpoint",
  "SessionService.GetSession",
  "SessionService.ListSessions",
  "DagService.GetDag",
  "DagService.GetDagGraph",
  "DagService.ListDags",
  "EventService.ListEvents",
  "EventService.StreamEvents",
  "EventService.ListNotices",
  "AdminService.GetUserUsage",
  "AdminService.GetAccounting",
];
const CHANGES = [
  "AllocationService.Submit",
  "AllocationService.Cancel",
  "AllocationService.Update",
  "AllocationService.Plan",
  "AllocationService.RequestCheckpoint",
  "AllocationService.Resume",
  "SessionService.DeleteSession",
  "DagService.SubmitDag",
  "DagService.CancelDag",
];
/** Only the owner. */
const TERMINALS = ["SessionService.Attach", "SessionService.CreateSession"];
const METRICS = [
  "AllocationService.QueryMetrics",
  "AllocationService.StreamMetrics",
  "AllocationService.GetDiagnostics",
  "AllocationService.CompareMetrics",
];
const LOGS = ["AllocationService.GetLogs", "AllocationService.StreamLogs"];
const TASKS = ["TaskService.LaunchTasks", "TaskService.SendTaskInput", "TaskService.ControlLaunch"];
const DRAINS = ["NodeService.DrainNode", "NodeService.UndrainNode"];
const TENANTS = ["AdminService.CreateTenant", "AdminService.DeleteTenant"];
const VCLUSTERS = [
  "AdminService.UpdateTenant",
  "NetworkService.SetDomainGrace",
  "AdminService.CreateVCluster",
  "AdminService.UpdateVCluster",
  "AdminService.DeleteVCluster",
];
const DISABLES = [
  "NodeService.DisableNode",
  "NodeService.EnableNode",
  "NodeService.ReportHealth",
  "ImageService.EvictImage",
];
const CLUSTER = [
  "AdminService.AddMember",
  "AdminService.RemoveMember",
  "AdminService.TransferLeader",
  "AdminService.CreateBackup",
  "AdminService.ListBackups",
  "AdminService.VerifyBackup",
  "AdminService.RestoreBackup",
  "AdminService.SetSignals",
  "NodeService.AssignNode",
  "AdminService.GetConfig",
  "AdminService.SetConfig",
  "AccessService.CreateEnrolment",
  "AccessService.ListEnrolments",
  "AccessService.RemoveEnrolment",
];
const KEYS = ["AccessService.RotateJobKey", "AccessService.RotateAuditKey"];
const READS_TENANT = [
  "AdminService.GetTenant",
  "AdminService.ListTenants",
  "AdminService.GetTenantUsage",
  "AdminService.ListServices",
  "NetworkService.ListDomains",
  "NetworkService.GetDomain",
  "AdminService.LookupService",
];

/** The targets a role reaches: own, colleague's, other tenant's, unowned. */
function expected(role: Role, rpc: string): [boolean, boolean, boolean, boolean] {
  if (TERMINALS.includes(rpc) || TASKS.includes(rpc)) return [role !== "ReadOnly", false, false, false];
  if (role === "SystemAdmin") return [true, true, true, true];
  const tenantOnly: [boolean, boolean, boolean, boolean] = [true, true, false, false];
  const ownOnly: [boolean, boolean, boolean, boolean] = [true, false, false, false];
  const nothing: [boolean, boolean, boolean, boolean] = [false, false, false, false];
  const everything: [boolean, boolean, boolean, boolean] = [true, true, true, true];
  const widely = role === "Operator" || role === "ReadOnly";
  if (READS_TENANT.includes(rpc)) return widely ? everything : tenantOnly;
  if (SEES.includes(rpc)) return widely ? everything : role === "TenantAdmin" ? tenantOnly : ownOnly;
  if (CHANGES.includes(rpc) || LOGS.includes(rpc)) {
    if (role === "ReadOnly") return nothing;
    return role === "TenantAdmin" ? tenantOnly : ownOnly;
  }
  if (rpc === "Services.Proxy") return role === "ReadOnly" ? nothing : tenantOnly;
  if (METRICS.includes(rpc)) return widely ? everything : role === "TenantAdmin" ? tenantOnly : ownOnly;
  if (DRAINS.includes(rpc)) return role === "Operator" ? everything : role === "TenantAdmin" ? tenantOnly : nothing;
  if (DISABLES.includes(rpc)) return role === "Operator" ? everything : nothing;
  if (rpc === "ImageService.WarmCache") return role === "ReadOnly" ? nothing : everything;
  if (TENANTS.includes(rpc) || CLUSTER.includes(rpc)) return nothing;
  if (VCLUSTERS.includes(rpc)) return role === "TenantAdmin" ? tenantOnly : nothing;
  if (rpc === "AccessService.QueryAudit" && role === "ClaimingUser") return ownOnly;
  if (rpc === "AccessService.AddGrant" || rpc === "AccessService.RemoveGrant" || rpc === "AccessService.QueryAudit")
    return role === "TenantAdmin" ? tenantOnly : nothing;
  if (rpc === "AccessService.VerifyAudit" || KEYS.includes(rpc)) return nothing;
  if (rpc === "AccessService.ListGrants") return widely ? everything : role === "TenantAdmin" ? tenantOnly : ownOnly;
  return everything; // nodes, vClusters and the cluster's status may be read by all
}

describe.each(ROLES)("%s", (role) => {
  test.each(Object.keys(RULES) as RuleName[])("%s", (rpc) => {
    const reached = [OWN, COLLEAGUES, STRANGERS, UNOWNED].map((t) => reaches(principal(role), rpc, t));
    expect(reached).toEqual(expected(role, rpc));
  });
});

describe("the content of sensitive work", () => {
  test.each(ROLES)("as %s: only one's own is reached, and output also by the tenant's administrators", (role) => {
    for (const rpc of Object.keys(RULES) as RuleName[]) {
      const sees = (t: Target) => reaches(principal(role), rpc, { ...t, sensitive: true });
      const seen = [OWN, COLLEAGUES, STRANGERS].map(sees);
      const guarded = [...METRICS, ...LOGS, ...TASKS, ...TERMINALS, "Services.Proxy"].includes(rpc);
      if (!guarded) expect([rpc, seen]).toEqual([rpc, expected(role, rpc).slice(0, 3)]);
      else
        expect([rpc, seen]).toEqual([rpc, [role !== "ReadOnly", role === "TenantAdmin" && LOGS.includes(rpc), false]]);
    }
  });

  test("sensitive rows never widen a reach, and grants count as roles do", () => {
    const reader = { ...principal("User"), scopes: ["allocations:attach"] };
    expect(reaches(reader, "AllocationService.GetLogs", { ...OWN, sensitive: true })).toBe(false);
    const granted = {
      ...principal("SystemAdmin"),
      grants: [{ tenant: "biology" as TenantId, role: "TenantAdmin" as const }],
    };
    const sees = (rpc: RuleName, sensitive: boolean) => reaches(granted, rpc, { ...STRANGERS, sensitive });
    expect([sees("AllocationService.GetLogs", true), sees("AllocationService.QueryMetrics", true)]).toEqual([
      true,
      false,
    ]);
    expect(sees("AllocationService.QueryMetrics", false)).toBe(true);
  });

  test("a refusal says that only the owner has access", () => {
    const hintOf = (rpc: RuleName) => {
      try {
        authorize(principal("SystemAdmin"), rpc, { ...COLLEAGUES, sensitive: true });
      } catch (error) {
        if (error instanceof ProblemError) return error.problem.hint;
      }
      return "let in";
    };
    expect(hintOf("AllocationService.QueryMetrics")).toMatch(/sensitive work.*only the user who submitted it/);
    expect(hintOf("AllocationService.GetLogs")).toMatch(/sensitive work.*administrators of its tenant/);
    expect(hintOf("AllocationService.Get")).toBe("let in");
  });
});

test("several roles reach as far as the widest", () => {
  expect(reaches(principal("User", "Operator"), "NodeService.DisableNode", UNOWNED)).toBe(true);
  expect(reaches(principal("ReadOnly", "User"), "AllocationService.Cancel", OWN)).toBe(true);
});

test("without a role nothing is reachable", () => {
  for (const rpc of Object.keys(RULES) as RuleName[]) expect(reaches(principal(), rpc, OWN)).toBe(false);
});

test("without a tenant, an owner reaches the terminals of its work in any tenant", () => {
  const root = { ...principal("SystemAdmin"), tenant: null };
  for (const rpc of ["SessionService.Attach", "SessionService.CreateSession"] as const) {
    expect(reaches(root, rpc, OWN)).toBe(true);
    expect(reaches(root, rpc, COLLEAGUES)).toBe(false);
    expect(reaches({ ...principal("User"), tenant: null }, rpc, OWN)).toBe(false);
  }
});

test("a principal without a tenant reaches no work by a tenant role", () => {
  const rootless = { ...principal("TenantAdmin"), tenant: null };
  expect(reaches(rootless, "AllocationService.Cancel", UNOWNED)).toBe(false);
  expect(reaches(rootless, "AllocationService.Cancel", OWN)).toBe(false);
});

test("a refusal is `forbidden` and names the call", () => {
  const refused = (act: () => void) => {
    try {
      act();
    } catch (error) {
      if (error instanceof ProblemError) return error.problem;
    }
    throw new Error("not refused");
  };
  const cancel = refused(() => authorize(principal("User"), "AllocationService.Cancel", COLLEAGUES));
  expect(cancel).toMatchObject({ code: "forbidden", status: 403 });
  expect(cancel.detail).toContain("AllocationService.Cancel");
  expect(refused(() => authorizeList(principal("ReadOnly"), "AdminService.CreateTenant")).code).toBe("forbidden");
  const elsewhere = { ...COLLEAGUES, tenant: "elsewhere" as typeof COLLEAGUES.tenant };
  const create = refused(() => authorize(principal("User"), "AdminService.CreateTenant", elsewhere));
  expect([cancel.hint, create.hint].map((hint) => hint.split(/[:;]/)[0])).toEqual([
    "It belongs to another user",
    "Ask an administrator of the cluster",
  ]);
});
