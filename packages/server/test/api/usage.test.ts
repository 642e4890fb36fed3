// Usage through the API: usage of tenants and users, remaining budgets, and invalid queries.

import { create } from "@bufbuild/protobuf";
import { type Command, DAY_MS, type NodeId, type TenantId, UNLIMITED, type UserName } from "@lattice/core";
import { pb } from "@lattice/wire";
import { beforeEach, describe, expect, test } from "vitest";
import type { Call } from "../../src/api/call/call.ts";
import { getTenantUsage, getUserUsage } from "../../src/api/handlers/usage.ts";
import type { Role } from "../../src/base/auth/principal.ts";
import { loadConfig } from "../../src/base/config/index.ts";
import { callRest, type Running, startTestApi } from "./clients.ts";

let api: Running;

beforeEach(async () => {
  api = await startTestApi();
  api.plane.addNode("n1");
  api.plane.apply(withGpus(api, "n1", 4));
  return () => api.close();
});

/** The plane's clock advances one second per entry, so an attempt on one node lasts as many seconds as entries pass. */
async function run(user: string, tenant: string, entries: number): Promise<void> {
  const submitted = await callRest(api, {
    method: "POST",
    path: "/api/v1/allocations",
    body: JSON.stringify({ entrypoint: "true", tenant }),
    headers: { "x-lattice-user": user },
  });
  const { id } = (submitted as { json: { id: string } }).json;
  api.plane.start(id, ["n1"]);
  for (let n = 1; n < entries; n += 1) api.plane.apply();
  api.plane.finish(id, 0);
}

const ask = async (path: string, user = "ada"): Promise<Record<string, unknown>> => {
  const answer = await callRest(api, { path: `/api/v1/${path}`, headers: { "x-lattice-user": user } });
  if ("problem" in answer) throw new Error(JSON.stringify(answer.problem));
  return answer.json as Record<string, unknown>;
};
const seconds = (hours: unknown): number => Math.round(Number(hours) * 3_600 * 10) / 10;

describe("a tenant's usage", () => {
  test("sums its users and days, including running work", async () => {
    await run("ada", "default", 10);
    await run("bob", "default", 30);
    const usage = await ask("tenants/default/usage");
    expect(seconds(usage.node_hours)).toBe(40);
    expect(seconds(usage.gpu_hours)).toBe(160);
    expect(usage).toMatchObject({ tenant: "default", days: 90, share: 1, users: 2 });
    const users = usage.by_user as { user: string; node_hours: number }[];
    expect(users.map(({ user, node_hours }) => [user, seconds(node_hours)])).toEqual([
      ["bob", 30],
      ["ada", 10],
    ]);
    const days = usage.by_day as { day: string; node_hours?: number }[];
    expect(days).toHaveLength(90);
    expect(seconds(days.at(-1)?.node_hours)).toBe(40);
    expect(days.at(-1)?.day).toBe(new Date(api.plane.now()).toISOString().slice(0, 10));

    await callRest(api, {
      method: "POST",
      path: "/api/v1/allocations",
      body: JSON.stringify({ entrypoint: "sleep 9" }),
    });
    api.plane.start("3", ["n1"]);
    api.plane.apply();
    api.plane.apply();
    const running = await ask("tenants/default/usage?user=anonymous");
    expect(seconds(running.node_hours)).toBe(2);
    expect(running).toMatchObject({ running: { allocations: 1, nodes: 1, gpus: 4 } });
  });

  test("shows the remaining budgets of the whole tenant", async () => {
    const quota = {
      ...UNLIMITED,
      gpuHoursBudget: 1,
      nodeHoursBudget: 0,
      fairShareMilli: 150,
      burstAllowanceMilli: 1500,
    };
    const origin = { user: "root" as never, requestId: null, bodyHash: "" };
    api.plane.apply({ kind: "tenant.update", origin, tenant: "default" as never, change: { quota } });
    await run("ada", "default", 90);
    await run("bob", "other", 10);
    const usage = await ask("tenants/default/usage?days=1&user=bob");
    expect(usage).toMatchObject({
      days: 1,
      node_hours: 0,
      budgets: [
        { kind: "gpu_hours", period_days: 90, hours: 1, used_hours: 0.1, remaining_hours: 0.9, percent: 10 },
        { kind: "node_hours", hours: 0, remaining_hours: 0, percent: 100 },
      ],
      fair_share_target: 0.15,
      burst_allowance: 1.5,
    });
    expect(await ask("tenants/default/usage")).toMatchObject({ share: 0.9 });
  });

  test("covers the requested days", async () => {
    await run("ada", "default", 5);
    const today = new Date(api.plane.now()).toISOString().slice(0, 10);
    const before = new Date(api.plane.now() - DAY_MS).toISOString().slice(0, 10);
    expect(seconds((await ask(`tenants/default/usage?since=${today}`)).node_hours)).toBe(5);
    const yesterday = await ask(`tenants/default/usage?since=${before}&until=${before}`);
    expect(yesterday).toMatchObject({ since: before, until: before, days: 1, node_hours: 0 });
    const byInstant = await ask(`tenants/default/usage?until=${today}T03:04:05Z&since=${before}T00:00:00Z`);
    expect(byInstant).toMatchObject({ since: before, until: today, days: 2 });
  });
});

describe("a user's usage", () => {
  test("is the caller's own over all tenants by default", async () => {
    await run("ada", "default", 10);
    await run("ada", "physics", 20);
    await run("bob", "physics", 5);
    const own = await ask("usage");
    expect(own).toMatchObject({ user: "ada", tenant: "" });
    expect(seconds(own.node_hours)).toBe(30);
    const tenants = own.by_tenant as { tenant: string; node_hours: number }[];
    expect(tenants.map(({ tenant, node_hours }) => [tenant, seconds(node_hours)])).toEqual([
      ["default", 10],
      ["physics", 20],
    ]);
    expect(seconds((await ask("usage?user=bob")).node_hours)).toBe(5);
    expect(seconds((await ask("usage?tenant=physics")).node_hours)).toBe(20);
    expect(await ask("usage?user=nobody")).toMatchObject({ node_hours: 0, by_tenant: [] });
  });
});

describe("access", () => {
  const as = (...roles: Role[]): Call => ({
    plane: api.plane,
    principal: { user: "ada" as UserName, tenant: "physics" as TenantId, roles, scopes: [] },
    signal: new AbortController().signal,
    config: loadConfig(null, { api: { auto_create_tenants: true } }),
    warnings: [],
  });
  const user = (call: Call, fields: { user?: string; tenant?: string } = {}) =>
    getUserUsage(call, create(pb.GetUserUsageRequestSchema, fields));
  const tenant = (call: Call, id: string, who = "") =>
    getTenantUsage(call, create(pb.GetTenantUsageRequestSchema, { id, user: who }));

  test("a user sees its own usage and the tenant's sum, an administrator each user's, and neither another tenant's", async () => {
    await run("ada", "physics", 20);
    await run("bob", "physics", 5);
    await run("ada", "art", 7);
    for (const role of ["User", "TenantAdmin"] as const) {
      expect(seconds((await user(as(role))).nodeHours)).toBe(20);
      expect(seconds((await tenant(as(role), "physics")).nodeHours)).toBe(25);
      await expect(tenant(as(role), "art")).rejects.toMatchObject({ problem: { code: "forbidden" } });
      await expect(user(as(role), { tenant: "art" })).rejects.toMatchObject({ problem: { code: "forbidden" } });
    }
    const usersOf = async (role: Role) => (await tenant(as(role), "physics")).byUser.map((one) => one.user);
    expect([await usersOf("User"), await usersOf("TenantAdmin")]).toEqual([["ada"], ["ada", "bob"]]);
    for (const ask of [user(as("User"), { user: "bob" }), tenant(as("User"), "physics", "bob")])
      await expect(ask).rejects.toMatchObject({ problem: { code: "forbidden" } });
    for (const ask of [user(as("TenantAdmin"), { user: "bob" }), tenant(as("TenantAdmin"), "physics", "bob")])
      expect(seconds((await ask).nodeHours)).toBe(5);
    expect(seconds((await tenant(as("ReadOnly"), "art")).nodeHours)).toBe(7);
    await expect(user(as())).rejects.toMatchObject({ problem: { code: "forbidden" } });
  });

  test("without a tenant only visible usage is summed", async () => {
    await run("ada", "art", 7);
    const homeless = as("User");
    const usage = await user({ ...homeless, principal: { ...homeless.principal, tenant: null } });
    expect(usage).toMatchObject({ nodeHours: 0, byTenant: [] });
  });
});

test.each([
  ["tenants/nobody/usage", "unknown_tenant", undefined],
  ["usage?tenant=nobody", "unknown_tenant", undefined],
  ["usage?days=0", "invalid_argument", "days"],
  ["usage?days=91", "invalid_argument", "days"],
  ["usage?days=-1", "invalid_argument", "days"],
  ["usage?days=many", "invalid_argument", "days"],
  ["usage?since=yesterday", "invalid_argument", "since"],
  ["usage?since=2023-13-45", "invalid_argument", "since"],
  ["usage?since=2020-01-01", "invalid_argument", "since"],
  ["usage?since=2023-11-14&until=2023-11-10", "invalid_argument", "since"],
  ["usage?since=2023-11-14&days=3", "invalid_argument", "days"],
  ["usage?until=2020-01-01", "invalid_argument", "until"],
  ["usage?user=a%20b", "invalid_argument", "user"],
  ["usage?colour=red", "invalid_argument", "colour"],
])("%s is refused", async (path, code, field) => {
  const answer = await callRest(api, { path: `/api/v1/${path}` });
  expect(answer).toMatchObject({ problem: { code, ...(field === undefined ? {} : { fields: [{ field }] }) } });
});

function withGpus({ plane }: Running, id: string, gpuCount: number): Command {
  const node = plane.view().node(id as NodeId);
  if (node === undefined) throw new Error(`no node ${id}`);
  const { group, conformance, homeVCluster, address, agentVersion, bootId } = node;
  const description = { group, conformance, homeVCluster, address, agentVersion, bootId };
  return { kind: "node.register", node: node.id, capabilities: { ...node.capabilities, gpuCount }, ...description };
}
