// sstat, sprio and sshare: figures in Slurm's columns, and messages for missing ones.

import { expect, test } from "vitest";
import { runSlurm } from "../../src/slurm/program.ts";
import { useScripted } from "../scripted.ts";

const rig = useScripted();

test("sprio's factors add up to the priority", async () => {
  const waiting = {
    id: "44",
    state: "pending",
    user: "ada",
    spec: { name: "w", vcluster: "debug", tenant: "physics" },
  };
  const blocked = { id: "45", state: "pending", user: "ada", spec: { name: "w", vcluster: "debug" } };
  const scores = { priority: 300, wait_time: 120, fair_share: 50, topology: 10, backlog: 7, total: 487 };
  rig.answers = {
    "GET /api/v1/allocations?state=pending&page_size=500": [200, { allocations: [blocked, waiting] }],
    "GET /api/v1/allocations/44/explain": [200, { id: "44", state: "pending", summary: "", queue: { scores } }],
    "GET /api/v1/allocations/45/explain": [200, { id: "45", state: "pending", summary: "" }],
  };
  expect(await runSlurm("sprio", [])).toBe(0);
  expect(rig.out.split("\n")).toEqual([
    "          JOBID PARTITION   PRIORITY       SITE        AGE  FAIRSHARE    JOBSIZE        QOS",
    "             44 debug            487          7        120         50         10        300",
    "",
  ]);
  rig.out = "";
  await runSlurm("sprio", ["-h", "-o", "%i %u %o %n %y %a"]);
  expect(rig.out).toBe("44 ada physics normal 0.4870000 0.1200000\n");
  expect(await runSlurm("sprio", ["-j", "99"])).toBe(1);
  expect(rig.err).toBe("Unable to find jobs matching user/id(s) specified\n");
});

test("sshare shows shares and usage of tenants and users", async () => {
  rig.answers = {
    "GET /api/v1/tenants": [200, { tenants: [{ id: "physics", quota: { fair_share_target: 0.75 } }, { id: "art" }] }],
    "GET /api/v1/tenants/physics/usage": [
      200,
      { tenant: "physics", node_hours: 2, share: 0.3, by_user: [{ user: "ada", node_hours: 1.5 }] },
    ],
    "GET /api/v1/tenants/art/usage": [200, { tenant: "art" }],
  };
  expect(await runSlurm("sshare", ["-a"])).toBe(0);
  expect(rig.out.split("\n")).toEqual([
    "Account                    User  RawShares  NormShares    RawUsage  EffectvUsage  FairShare ",
    "-------------------- ---------- ---------- ----------- ----------- ------------- ---------- ",
    "physics                                750    0.600000        7200      0.300000   0.500000 ",
    " physics                    ada     parent                    5400      0.225000            ",
    "art                                    500    0.400000           0      0.000000   1.000000 ",
    "",
  ]);
  rig.out = "";
  await runSlurm("sshare", ["-nP", "-A", "art", "-o", "Account,FairShare"]);
  expect(rig.out).toBe("art|1.000000\n");
  expect(await runSlurm("sshare", ["-o", "Luck"])).toBe(1);
  expect(rig.err).toBe('sshare: error: Invalid field requested: "Luck"\n');
});

test("sstat shows measured values and reports missing ones", async () => {
  const series = (node: string, ...values: readonly number[]) => ({
    metric: "memory_used",
    node,
    points: values.map((value) => ({ value })),
  });
  const metrics = (id: string) =>
    `GET /api/v1/allocations/${id}/metrics?mode=per_node&metrics=memory_used&metrics=cpu_utilization&metrics=io_read_bytes&metrics=io_write_bytes&duration_seconds=3600`;
  rig.answers = {
    "GET /api/v1/allocations/44": [200, { id: "44", state: "running", nodes: ["n1", "n2"] }],
    "GET /api/v1/allocations/45": [200, { id: "45", state: "running", nodes: ["n3"] }],
    "GET /api/v1/allocations/46": [200, { id: "46", state: "completed" }],
    [metrics("44")]: [200, { allocation_id: "44", series: [series("n1", 1024, 4096), series("n2", 1024)] }],
    [metrics("45")]: [200, { allocation_id: "45", unavailable_reason: "Nothing was measured." }],
    "GET /api/v1/nodes": [200, { nodes: [] }],
  };
  expect(
    await runSlurm("sstat", ["-nP", "-j", "44.batch,45,46", "-o", "JobID,MaxRSS,MaxRSSNode,AveRSS,NTasks,AveCPU"]),
  ).toBe(0);
  expect(rig.out).toBe("44.batch|4K|n1|2K|2|\n45.batch||||1|\n");
  expect(rig.err).toBe("sstat: job 45: Nothing was measured.\nsstat: error: couldn't get steps for job 46\n");
  [rig.out, rig.err] = ["", ""];
  expect(await runSlurm("sstat", [])).toBe(1);
  expect(rig.err).toBe("sstat: error: You didn't give me any jobs to stat.\n");
});

test("sstat sums CPU and file rates only for gapless measurements", async () => {
  const started_at = "2026-11-15T12:00:00Z";
  const after = (seconds: number) => new Date(Date.parse(started_at) + seconds * 1000).toISOString();
  const series = (metric: string, node: string, ...points: readonly (readonly [number, number])[]) => ({
    metric,
    node,
    points: points.map(([seconds, value]) => ({ at: after(seconds), value })),
  });
  const metrics = "metrics=memory_used&metrics=cpu_utilization&metrics=io_read_bytes&metrics=io_write_bytes";
  const node = (id: string, cores: number, claims: readonly object[] = []) => ({
    id,
    capabilities: { cpu_cores: cores },
    claims,
  });
  rig.answers = {
    "GET /api/v1/allocations/44": [200, { id: "44", state: "running", nodes: ["n1", "n2"], started_at }],
    [`GET /api/v1/allocations/44/metrics?mode=per_node&${metrics}&duration_seconds=3600`]: [
      200,
      {
        allocation_id: "44",
        unavailable_reason: "",
        series: [
          series("cpu_utilization", "n1", [30, 50], [60, 100]),
          series("cpu_utilization", "n2", [30, 25], [60, 25]),
          series("io_read_bytes", "n1", [30, 1024], [60, 0]),
          series("io_read_bytes", "n2", [30, 0], [60, 2048]),
          // Older than the kept measurements, and one with a gap.
          series("io_write_bytes", "n1", [900, 1024], [930, 1024]),
          series("io_write_bytes", "n2", [30, 1024], [120, 1024]),
        ],
      },
    ],
    "GET /api/v1/nodes": [200, { nodes: [node("n1", 8, [{ allocation_id: "44", cpu_cores: 2 }]), node("n2", 4)] }],
  };
  const columns = "MinCPU,MinCPUNode,AveCPU,MaxDiskRead,MaxDiskReadNode,AveDiskRead,MaxDiskWrite,AveDiskWrite,MaxRSS";
  expect(await runSlurm("sstat", ["-nP", "-j", "44", "-o", columns])).toBe(0);
  expect([rig.err, rig.out]).toEqual(["", "00:01:00|n2|00:01:15|60K|n2|45K|||\n"]);
});
