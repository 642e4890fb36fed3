// `lattice usage`: requests and reports.

import { describe, expect, test, vi } from "vitest";
import { bar, sparkline } from "../src/commands/usage/draw.ts";
import { useScripted } from "./scripted.ts";

const rig = useScripted();

const days = (count: number, gpu_hours: number) =>
  Array.from({ length: count }, (_, n) => ({ day: `2026-03-${String(n + 1).padStart(2, "0")}`, gpu_hours }));

const PHYSICS = {
  tenant: "physics",
  since: "2026-03-01",
  until: "2026-03-30",
  days: 30,
  calculated_at: "2026-03-30T12:00:00.000Z",
  node_hours: 308.5,
  gpu_hours: 1234,
  running: { allocations: 3, nodes: 12, gpus: 48 },
  budgets: [
    { kind: "gpu_hours", period_days: 30, hours: 5000, used_hours: 1234, remaining_hours: 3766, percent: 24.68 },
    { kind: "node_hours", period_days: 30, hours: 300, used_hours: 308.5, remaining_hours: 0, percent: 102.83 },
  ],
  share: 0.4,
  fair_share_target: 0.25,
  by_day: days(30, 41),
  by_user: [
    { user: "ada", node_hours: 300, gpu_hours: 1200, running: { allocations: 2 } },
    { user: "eve", node_hours: 8.5, gpu_hours: 34 },
  ],
};
const ADA = {
  user: "ada",
  since: "2026-03-30",
  until: "2026-03-30",
  days: 1,
  calculated_at: "2026-03-30T12:00:00.000Z",
  node_hours: 0.000278,
  by_tenant: [
    { tenant: "default", node_hours: 0.000278 },
    { tenant: "physics", node_hours: 0 },
  ],
};

describe("requests", () => {
  test.each([
    [["usage"], "/api/v1/usage"],
    [["usage", "--user", "bob", "--days", "7"], "/api/v1/usage?user=bob&days=7"],
    [["usage", "--tenant", "physics"], "/api/v1/tenants/physics/usage"],
    [["-t", "physics", "usage", "--user=bob"], "/api/v1/tenants/physics/usage?user=bob"],
    [["usage", "--since", "2026-03-01", "--until", "2026-03-02"], "/api/v1/usage?since=2026-03-01&until=2026-03-02"],
  ])("%s", async (argv, asked) => {
    rig.answers[`GET ${asked}`] = [200, ADA];
    expect(await rig.run(...argv)).toBe(0);
    expect(rig.requests).toEqual([`GET ${asked}`]);
  });

  test("a tenant from the settings filters the user's own usage", async () => {
    vi.stubEnv("LATTICE_TENANT", "physics");
    rig.answers["GET /api/v1/usage?tenant=physics"] = [200, ADA];
    expect(await rig.run("usage")).toBe(0);
  });

  test.each([
    [["usage", "--days", "0"], /from 1 to 90/],
    [["usage", "--days", "week"], /from 1 to 90/],
    [["usage", "--days", "3", "--since", "2026-03-01"], /cannot be combined/],
  ])("%s is refused without a request", async (argv, message) => {
    expect(await rig.run(...argv)).not.toBe(0);
    expect(rig.err).toMatch(message);
    expect(rig.requests).toEqual([]);
  });
});

describe("reports", () => {
  test("a tenant's report shows budgets", async () => {
    rig.answers["GET /api/v1/tenants/physics/usage"] = [200, PHYSICS];
    await rig.run("usage", "--tenant=physics");
    expect(rig.out.split("\n")).toEqual([
      "physics used 309 node-hours and 1,234 GPU-hours in the last 30 days.",
      "3 allocations are running now, on 12 nodes with 48 GPUs.",
      "That is 40 % of the cluster's use, above the tenant's share of 25 %.",
      "physics used 1,234 of 5,000 GPU-hours (25 %) in the last 30 days; at the rate of the last week it will not be used up.",
      "physics used 309 of 300 node-hours (103 %) in the last 30 days; the budget is used up, so its allocations queue behind others.",
      "",
      "USER  NODE-HOURS  GPU-HOURS  RUNNING",
      "ada          300      1,200        2",
      "eve          8.5         34        0",
      "",
    ]);
    rig.out = "";
    rig.answers["GET /api/v1/tenants/physics/usage"] = [200, { ...PHYSICS, by_day: days(30, 400) }];
    await rig.run("usage", "--tenant=physics");
    expect(rig.out).toContain("; at the rate of the last week it will be used up in 10 days.");
  });

  test("a user's report is by tenant, also for little usage", async () => {
    rig.answers["GET /api/v1/usage"] = [200, ADA];
    await rig.run("usage");
    expect(rig.out).toContain("ada used 0.0003 node-hours and 0 GPU-hours today.\nNothing is running now.\n");
    expect(rig.out).toContain("TENANT   NODE-HOURS");
  });

  test("a terminal shows bars and days", async () => {
    rig.answers["GET /api/v1/tenants/physics/usage"] = [200, PHYSICS];
    const terminal = Object.getOwnPropertyDescriptor(process.stdout, "isTTY");
    Object.defineProperty(process.stdout, "isTTY", { value: true, configurable: true });
    try {
      await rig.run("usage", "--tenant=physics", "--no-color");
    } finally {
      if (terminal === undefined) Reflect.deleteProperty(process.stdout, "isTTY");
      else Object.defineProperty(process.stdout, "isTTY", terminal);
    }
    expect(rig.out).toContain("GPU-hours    █████▉░░░░░░░░░░░░░░░░░░ 25 % of 5,000");
    expect(rig.out).toContain(`Node-hours   ${"█".repeat(24)} 103 % of 300`);
    expect(rig.out).toContain(`GPUs by day  ${"█".repeat(30)}`);
  });

  test("JSON, quiet and wide output", async () => {
    rig.answers["GET /api/v1/usage"] = [200, ADA];
    await rig.run("usage", "-o", "json");
    expect(JSON.parse(rig.out)).toEqual(ADA);
    rig.out = "";
    await rig.run("usage", "-q");
    expect(rig.out).toBe("node_hours 0.000278\ngpu_hours 0\n");
    rig.out = "";
    rig.answers["GET /api/v1/usage"] = [200, { ...ADA, by_day: [{ day: "2026-03-30", node_hours: 0.000278 }] }];
    await rig.run("usage", "-o", "wide");
    expect(rig.out).toContain("2026-03-30");
    expect(rig.out).toContain("DAY");
  });
});

test("bars and sparklines", () => {
  expect(bar(0)).toBe("░".repeat(24));
  expect(bar(1)).toBe("█".repeat(24));
  expect(bar(7)).toBe("█".repeat(24));
  for (let n = 0; n <= 100; n += 1) expect(bar(n / 100)).toHaveLength(24);
  expect(sparkline([0, 1, 4, 8])).toBe("·▂▅█");
  expect(sparkline([])).toBe("");
});
