// Columns of squeue, sinfo and sacct: letters, names, widths, cutting, and unknown fields.

import { expect, test } from "vitest";
import { parseFormat, rowLine } from "../../src/slurm/format.ts";
import { jobFields, LONG_NAMES } from "../../src/slurm/job-fields.ts";
import { longJobFields } from "../../src/slurm/job-fields-long.ts";
import type { SlurmJob } from "../../src/slurm/jobs.ts";
import { runSlurm } from "../../src/slurm/program.ts";
import { SINFO_FIELDS, SINFO_NAMES } from "../../src/slurm/sinfo-fields.ts";
import { useScripted } from "../scripted.ts";
import { context } from "./slurm-context.ts";

const rig = useScripted();
const LIVE = "state=pending&state=staging&state=running&state=checkpointing&state=suspended";
const NODES = [
  { id: "n1", state: "ready", capabilities: { cpu_cores: 64, memory_gb: 4, gpu_count: 4, gpu_type: "GH200" } },
  {
    id: "n2",
    state: "ready",
    capabilities: { cpu_cores: 32, memory_gb: 2, gpu_count: 4, gpu_type: "GH200" },
    claims: [{ allocation_id: "43", cpu_cores: 8 }],
  },
];

function answerWithJobs(): void {
  const running = {
    id: "43",
    state: "running",
    user: "root",
    nodes: ["n2"],
    submitted_at: "2026-11-15T10:00:00Z",
    started_at: "2026-11-15T10:00:30Z",
    scores: { priority: 300, wait: 50, total: 350 },
    spec: {
      name: "run",
      vcluster: "debug",
      tags: { comment: "a note" },
      script: "#!/bin/sh",
      output: { file: "/home/me/out" },
      lifecycle: { walltime_seconds: 180_000 },
      resources: {
        nodes: 1,
        tasks_per_node: 4,
        constraints: { memory_gb: 2, gpu_count: 2, required_nodes: ["n1", "n2"], excluded_nodes: ["n3"] },
      },
    },
  };
  const waiting = { id: "44", state: "pending", user: "unknown-here", spec: { name: "w", vcluster: "debug" } };
  rig.answers = {
    [`GET /api/v1/allocations?${LIVE}&page_size=500`]: [200, { allocations: [running, waiting] }],
    "GET /api/v1/allocations/44/explain": [
      200,
      { id: "44", state: "pending", summary: "", queue: { scores: { total: 123 } } },
    ],
    "GET /api/v1/nodes": [200, { nodes: NODES }],
    "GET /api/v1/vclusters": [200, { vclusters: [{ id: "debug", is_default: true, default_walltime_seconds: 600 }] }],
  };
}

test("squeue has a column for every letter of Slurm", () => {
  const letters = "aAbBcCdDeEfFgGhHiIjJkKlLmMnNoOpPqQrRsStTuUvVwWxXyYzZ".split("");
  const fields = jobFields(context());
  expect(letters.filter((letter) => fields[letter] === undefined)).toEqual([]);
  expect(parseFormat("%all", fields).parts).toHaveLength(letters.length);
  const named = { ...fields, ...longJobFields(0, undefined) };
  expect(Object.values(LONG_NAMES).filter((letter) => named[letter] === undefined)).toEqual([]);
});

test("sinfo has a column for every letter of Slurm", () => {
  const letters = "aAbBcCdDeEfFgGhHiIklLmMnNoOpPrRsStTuUvVwXYzZ".split("");
  expect(letters.filter((letter) => SINFO_FIELDS[letter] === undefined)).toEqual([]);
  expect(Object.values(SINFO_NAMES).filter((letter) => SINFO_FIELDS[letter] === undefined)).toEqual([]);
});

test("squeue shows the less common letters and names", async () => {
  answerWithJobs();
  expect(await runSlurm("squeue", ["-h", "-t", "R", "-o", "%C|%c|%m|%b|%n|%x|%k|%Q|%U|%s|%y|%z|%h"])).toBe(0);
  expect(rig.out).toBe("8|1|2G|gres/gpu:2|n[1-2]|n3|a note|350|0||0|*:*:*|NO\n");
  rig.out = "";
  await runSlurm("squeue", ["-h", "-t", "PD", "-o", "%i %Q %p %U %N|"]);
  expect(rig.out).toBe("44 123 0.00000002863817 N/A |\n");
  rig.out = "";
  await runSlurm("squeue", ["-h", "-t", "R", "-O", "NumTasks:.6,StdOut:12|,PendingTime:4,tres-alloc:0,BatchFlag:2"]);
  expect(rig.out).toBe("     4/home/me/out|30  cpu=8,node=1,billing=8,gres/gpu=21 \n");
  expect(rig.err).toBe("");
});

test("an unknown letter is reported and printed as written", async () => {
  answerWithJobs();
  expect(await runSlurm("squeue", ["-t", "R", "-o", "%i %.5!|%é %1"])).toBe(0);
  expect(rig.out).toBe("JOBID %.5!|%é %1\n43 %.5!|%é %1\n");
  const printed = "squeue: error: Invalid job format specification:";
  expect(rig.err).toBe(`${printed} !\n${printed} é\n`);
  [rig.out, rig.err] = ["", ""];
  expect(await runSlurm("squeue", ["-h", "-t", "R", "-O", "JobID:4,Nothing,Name"])).toBe(0);
  expect(rig.err).toBe("squeue: error: Invalid job format specification: Nothing\n");
  expect(rig.out).toBe(`43  ${"run".padEnd(20)}\n`);
  [rig.out, rig.err] = ["", ""];
  expect(await runSlurm("sinfo", ["-h", "-o", "%R %Q"])).toBe(0);
  expect([rig.out, rig.err]).toEqual(["debug %Q\n", "Invalid node format specification: Q\n"]);
});

test("a width cuts text, except node lists and durations aligned right", () => {
  const fields = jobFields(context());
  const job = {
    id: "7",
    base: "7",
    index: null,
    heldByLimit: false,
    allocation: {
      id: "7",
      state: "running",
      nodes: ["node-1", "node-9"],
      spec: { name: "abcdef", lifecycle: { walltime_seconds: 180_000 } },
    },
  } as unknown as SlurmJob;
  const shown = (format: string): string => rowLine(parseFormat(format, fields).parts, job);
  expect(shown("%.3j|%3j|%8j|%.8j|")).toBe("abc|abc|abcdef  |  abcdef|");
  expect(shown("%.5N|%5N|%.4l|%4l|")).toBe("node-[1,9]|node-|2-02:00:00|2-02|");
});

test("sinfo marks different sizes with a plus, or splits lines with -e", async () => {
  answerWithJobs();
  await runSlurm("sinfo", ["-h", "-o", "%D %c %m %C %L %i|%k"]);
  expect(rig.out).toBe("2 32+ 2048+ 8/88/0/96 10:00 |(null)\n");
  rig.out = "";
  await runSlurm("sinfo", ["-h", "-e", "-o", "%c %N"]);
  expect(rig.out).toBe("64 n1\n32 n2\n");
  rig.out = "";
  await runSlurm("sinfo", ["-h", "-n", "n2", "-O", "NodeList:4,GresUsed:14,CPUsState"]);
  expect(rig.out).toBe(`n2  gpu:gh200:4   ${"8/24/0/32".padEnd(20)}\n`);
});

test("sacct accepts prefixes of names, all, and alignment", async () => {
  answerWithJobs();
  rig.answers["GET /api/v1/allocations/43"] = [
    200,
    { id: "43", state: "completed", user: "root", nodes: ["n2"], spec: { name: "run", vcluster: "debug" } },
  ];
  await runSlurm("sacct", ["-nP", "-j", "43", "-o", "jobid,part,AllocTRES,UID,ReqTRES"]);
  expect(rig.out).toBe("43|debug|billing=8,cpu=8,node=1|0|billing=1,cpu=1,node=1\n");
  rig.out = "";
  await runSlurm("sacct", ["-n", "-j", "43", "-o", "jobid%6,jobidraw,User%-6"]);
  expect(rig.out).toBe("    43 43           root   \n");
  rig.out = "";
  expect(await runSlurm("sacct", ["-P", "-j", "43", "-o", "ALL"])).toBe(0);
  expect(rig.out.split("\n")[0]?.split("|").length).toBeGreaterThan(100);
});
