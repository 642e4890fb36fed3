// sacct's steps, ends and elements without a record; seff; and the tables of sacctmgr.

import { beforeEach, expect, test } from "vitest";
import { runSlurm } from "../../src/slurm/program.ts";
import { useScripted } from "../scripted.ts";

const rig = useScripted();
const ALL =
  "state=pending&state=staging&state=running&state=checkpointing&state=suspended&state=completed&state=failed&state=cancelled";

const spec = { name: "job", vcluster: "debug", tenant: "default", script: "#!/bin/sh\n", resources: { nodes: 1 } };
const used = { processor_ms: 65_250, peak_memory_bytes: 2_097_152, read_bytes: 1_048_576 };
const ended = {
  id: "44",
  state: "cancelled",
  user: "root",
  spec,
  nodes: ["n1"],
  attempt: 1,
  cancelled_by: "root",
  submitted_at: "2026-11-15T10:00:00Z",
  started_at: "2026-11-15T10:00:01Z",
  ended_at: "2026-11-15T10:01:41Z",
  usage: [{ attempt: 1, nodes: 1, total: used, peak_memory_node: "n1" }],
};

beforeEach(() => {
  rig.answers = {
    "GET /api/v1/allocations/44": [200, ended],
    "GET /api/v1/nodes": [200, { nodes: [{ id: "n1", capabilities: { cpu_cores: 2, memory_gb: 4 } }] }],
    "GET /api/v1/tenants": [
      200,
      {
        tenants: [
          { id: "default", description: "Default tenant" },
          { id: "physics", quota: { max_nodes: 8 } },
        ],
      },
    ],
  };
});

test("sacct shows the batch step with the measured resources, and who cancelled the job", async () => {
  expect(await runSlurm("sacct", ["-j", "44", "-nP", "-o", "JobID,JobName,User,State,ExitCode,MaxRSS,TotalCPU"])).toBe(
    0,
  );
  expect(rig.out).toBe("44|job|root|CANCELLED by 0|0:15||01:05.250\n44.batch|batch||CANCELLED|0:15|2048K|01:05.250\n");
  rig.out = "";
  await runSlurm("sacct", ["-X", "-j", "44", "-nP", "-o", "JobID"]);
  await runSlurm("sacct", ["-j", "44.batch", "-nP", "-o", "JobID,MaxDiskRead"]);
  await runSlurm("sacct", ["-j", "44.0", "-nP", "-o", "JobID"]);
  expect(rig.out).toBe("44\n44.batch|1.00M\n");
});

test("sacct --json has the state, the exit and the times", async () => {
  await runSlurm("sacct", ["--json", "-j", "44"]);
  expect(JSON.parse(rig.out).jobs).toMatchObject([
    {
      job_id: 44,
      state: { current: "CANCELLED" },
      exit_code: { signal: { signal_id: 15 } },
      kill_request_user: "root",
    },
  ]);
});

test("sacct lists elements that never started in one line for each state", async () => {
  const group = { range: { start: 0, end: 9, concurrency: 3 }, size: 10, waiting: 2, waiting_indexes: "8-9" };
  const array = { ...ended, id: "46", state: "running", ended_at: undefined, cancelled_by: "", group };
  const element = (n: number) => ({ ...ended, id: `46_${n}`, state: "completed", cancelled_by: "" });
  rig.answers = {
    ...rig.answers,
    "GET /api/v1/allocations/46": [200, array],
    [`GET /api/v1/allocations?group_id=46&expand=true&${ALL}&page_size=200`]: [
      200,
      { allocations: [element(1), element(0)] },
    ],
  };
  await runSlurm("sacct", ["-X", "-j", "46", "-nP", "-o", "JobID,State"]);
  expect(rig.out).toBe("46_[8-9%3]|PENDING\n46_[2-7]|CANCELLED by 0\n46_0|COMPLETED\n46_1|COMPLETED\n");
});

test("seff relates CPU time to the cores and memory to the node", async () => {
  expect(await runSlurm("seff", ["44"])).toBe(0);
  expect(rig.out).toContain("CPU Utilized: 00:01:05\nCPU Efficiency: 32.63% of 00:03:20 core-walltime\n");
  expect(rig.out).toContain("Memory Utilized: 2.00 MB\nMemory Efficiency: 0.05% of 4.00 GB\n");
});

test("sacctmgr lists the accounts of a user, as workflow engines ask", async () => {
  expect(await runSlurm("sacctmgr", ["-n", "-s", "list", "user", "root", "format=account%20"])).toBe(0);
  expect(rig.out.split("\n").map((line) => line.trim())).toEqual(expect.arrayContaining(["default", "physics"]));
  rig.out = "";
  await runSlurm("sacctmgr", ["-nP", "show", "qos", "format=name,priority"]);
  expect(rig.out).toBe("low|1\nnormal|4\nhigh|7\nurgent|9\n");
  rig.out = "";
  await runSlurm("sacctmgr", ["-nP", "show", "account", "physics", "format=account,descr"]);
  expect(rig.out).toBe("physics|\n");
  expect(await runSlurm("sacctmgr", ["add", "user", "eve"])).toBe(1);
  expect(rig.err).toContain("use `lattice admin tenant`");
});

test("a program without a counterpart names what to use instead", async () => {
  expect(await runSlurm("sreport", ["cluster", "utilization"])).toBe(1);
  expect(rig.err).toBe(
    "sreport: error: sreport is not supported by Lattice; use `lattice usage`, or `lattice usage --tenant NAME`\n",
  );
});
