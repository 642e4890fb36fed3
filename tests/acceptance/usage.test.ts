// The ledger end to end: real jobs are charged to their tenant and user; the figures survive a restart, include
// running work, and are the same in the CLI.
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { startProgram } from "../harness/program.ts";
import { request } from "../harness/rest.ts";
import { useCluster } from "../harness/use-cluster.ts";

interface Usage {
  readonly node_hours: number;
  readonly gpu_hours: number;
  readonly running: { readonly allocations: number; readonly nodes: number; readonly gpus: number };
  readonly budgets: readonly { readonly kind: string; readonly used_hours: number; readonly percent: number }[];
  readonly by_user: readonly { readonly user: string; readonly node_hours: number; readonly gpu_hours: number }[];
  readonly by_day: readonly { readonly node_hours: number }[];
}

const GPUS = 4;
const cluster = useCluster({ nodes: 2, config: "api: { auto_create_tenants: true }\n" });

beforeAll(async () => {
  const args = ["--node-id", "gpu-1", "--server", cluster.grpcAddress, "--data-dir", join(cluster.dir, "agent-gpu-1")];
  startProgram("lattice-agent", {
    args: [...args, "--gpu-count", String(GPUS), "--gpu-type", "GH200"],
    logFile: join(cluster.dir, "agent-gpu-1.log"),
  });
  await cluster.nodesReady([...cluster.nodeIds, "gpu-1"]);
});

const seconds = (hours: number): number => hours * 3600;
const usageOf = async (path: string): Promise<Usage> => {
  const answer = await cluster.api<Usage>("GET", path);
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`);
  return answer.body;
};
/** Runs a job to its end and returns its recorded run time. */
async function run(body: Readonly<Record<string, unknown>>, user: string): Promise<number> {
  const id = await cluster.submit({ entrypoint: "sleep 1", ...body }, { headers: { "x-lattice-user": user } });
  const { state, started_at, ended_at } = await cluster.ends(id);
  expect(state).toBe("completed");
  return (Date.parse(String(ended_at)) - Date.parse(String(started_at))) / 1000;
}

describe("usage", () => {
  test("grows by nodes times seconds for the tenant and user of the work", async () => {
    const two = await run({ tenant: "physics", nodes: 2, constraints: { excluded_nodes: ["gpu-1"] } }, "ada");
    const gpu = await run(
      { tenant: "physics", exclusive: true, constraints: { gpu_type: "GH200", gpu_count: 1 } },
      "bob",
    );
    expect(two).toBeGreaterThan(0);
    const usage = await usageOf("/tenants/physics/usage");
    // The figures are rounded to a few milliseconds.
    expect(seconds(usage.node_hours)).toBeCloseTo(2 * two + gpu, 1);
    expect(seconds(usage.gpu_hours)).toBeCloseTo(GPUS * gpu, 1);
    const users = usage.by_user.map(({ user, node_hours }) => ({ user, used: seconds(node_hours) }));
    expect(users.map(({ user }) => user)).toEqual(["ada", "bob"]);
    expect(users[0]?.used).toBeCloseTo(2 * two, 1);
    expect(users[1]?.used).toBeCloseTo(gpu, 1);
    const bob = await usageOf("/usage?user=bob");
    expect(seconds(bob.gpu_hours)).toBeCloseTo(GPUS * gpu, 1);
    const days = usage.by_day.reduce((sum, day) => sum + day.node_hours, 0);
    expect(seconds(days)).toBeCloseTo(2 * two + gpu, 1);
    expect((await usageOf("/usage?user=unknown")).node_hours).toBe(0);
  });

  test("includes running work and survives a server restart", async () => {
    const id = await cluster.submit({ tenant: "art", entrypoint: "sleep 300" });
    await cluster.reaches(id, ["running"]);
    const first = await usageOf("/tenants/art/usage");
    expect(first.running).toMatchObject({ allocations: 1, nodes: 1 });
    await new Promise((resolve) => setTimeout(resolve, 300));
    const second = await usageOf("/tenants/art/usage");
    expect(second.node_hours).toBeGreaterThan(first.node_hours);

    const before = await usageOf("/tenants/physics/usage");
    await cluster.server.stop();
    await cluster.startServer();
    expect(await usageOf("/tenants/physics/usage")).toMatchObject({
      node_hours: before.node_hours,
      gpu_hours: before.gpu_hours,
      by_user: before.by_user,
    });
    expect((await usageOf("/tenants/art/usage")).node_hours).toBeGreaterThan(second.node_hours);
    await cluster.nodesReady([...cluster.nodeIds, "gpu-1"]);
    expect((await cluster.cli(["cancel", id])).code).toBe(0);
    await cluster.reaches(id, ["cancelled"]);
    const ended = await usageOf("/tenants/art/usage");
    expect(ended.running.allocations).toBe(0);
    expect(ended.node_hours).toBeGreaterThan(second.node_hours);

    await cluster.server.kill();
    await cluster.startServer();
    expect((await usageOf("/tenants/art/usage")).node_hours).toBe(ended.node_hours);
  });

  test("is compared with budgets by the CLI", async () => {
    const set = ["admin", "tenant", "set-quota", "physics", "--gpu-hours-budget", "1", "--node-hours-budget", "1"];
    expect((await cluster.cli(set)).code).toBe(0);
    const { budgets, gpu_hours } = await usageOf("/tenants/physics/usage");
    expect(budgets.map(({ kind }) => kind)).toEqual(["gpu_hours", "node_hours"]);
    expect(budgets[0]?.used_hours).toBe(gpu_hours);
    expect(budgets[0]?.percent).toBeCloseTo(gpu_hours * 100, 1);
    const shown = await cluster.cli(["usage", "--tenant", "physics"]);
    expect(shown.code).toBe(0);
    expect(shown.stdout).toMatch(/^physics used \S+ node-hours and \S+ GPU-hours in the last 90 days\.$/m);
    expect(shown.stdout).toMatch(/^physics used \S+ of 1 GPU-hours \(\d+ %\) in the last 90 days; /m);
    expect(shown.stdout).toMatch(/^ada +\d/m);
    const json = await cluster.cli(["usage", "--tenant", "physics", "-o", "json"]);
    expect((JSON.parse(json.stdout) as Usage).gpu_hours).toBe(gpu_hours);
  });

  test("refuses invalid queries by field", async () => {
    for (const [path, status, field] of [
      ["/usage?days=0", 400, "days"],
      ["/usage?days=1000", 400, "days"],
      ["/usage?since=never", 400, "since"],
      ["/usage?since=2020-01-01", 400, "since"],
      ["/tenants/unknown/usage", 404, undefined],
    ] as const) {
      const answer = await cluster.api<{ readonly fields?: readonly { readonly field: string }[] }>("GET", path);
      expect(answer.status, path).toBe(status);
      expect(answer.body.fields?.[0]?.field, path).toBe(field);
    }
    const refused = await cluster.cli(["usage", "--tenant", "unknown"]);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain("unknown");
  });

  test("agrees with the scheduler's metrics", async () => {
    await cluster.nodesReady([...cluster.nodeIds, "gpu-1"]);
    await run({ entrypoint: "true" }, "ada");
    const { text } = await request(cluster.apiUrl, "GET", "/metrics");
    expect(text).toMatch(
      /^lattice_scheduling_proposals_total\{vcluster="hpc-batch",result="accepted",reason=""\} \d+$/m,
    );
    expect(text).toMatch(/^lattice_scheduling_cycle_duration_seconds_count\{vcluster="hpc-batch"\} \d+$/m);
    expect(text).toMatch(/^lattice_scheduling_queue_depth\{vcluster="hpc-batch"\} 0$/m);
  });
});
