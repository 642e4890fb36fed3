// Reading traces: what is used of them, what is dropped, and how bad ones are refused.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { readTrace, TraceError } from "../src/index.ts";
import { jobsOf, swfLine } from "./make.ts";

const folder = mkdtempSync(join(tmpdir(), "rm-replay-trace-"));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }));

function write(name: string, contents: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, contents);
  return path;
}

function refusal(
  name: string,
  contents: string | Buffer,
  nodes: number | null = 8,
): { line: number | null; text: string } {
  try {
    readTrace(write(name, contents), { nodes, jobs: null });
  } catch (error) {
    if (error instanceof TraceError) return { line: error.line, text: error.message };
    throw error;
  }
  throw new Error("it was read");
}

const good = ["; MaxProcs: 16", "; a note", swfLine(1, { submit: 5, run: 10, request: 20, nodes: 4, user: "7" }), ""];

describe("Standard Workload Format", () => {
  it("reads jobs and the machine's size", () => {
    const trace = readTrace(write("good.swf", good.join("\n")), { nodes: null, jobs: null });
    expect(jobsOf(trace)).toEqual([{ id: "1", user: "7", submit: 5, run: 10, request: 20, nodes: 4, priority: 5 }]);
    expect([trace.tenants, [...trace.tenant]]).toEqual([["7"], [0]]);
    expect(trace).toMatchObject({ nodes: 16, dropped: { noSize: 0, noRunTime: 0, tooLarge: 0 }, warnings: [] });
  });

  it("reads gzip, windows line ends and a size given from outside", () => {
    const trace = readTrace(write("good.swf.gz", gzipSync(good.join("\r\n"))), { nodes: 5, jobs: null });
    expect([trace.nodes, trace.count]).toEqual([5, 1]);
  });

  it.each([
    {
      name: "requested processors are unknown: the allocated ones",
      fields: "1 0 -1 9 3 -1 -1 -1 9",
      expected: [3, 9, 9],
    },
    { name: "requested time is unknown: the run time", fields: "1 0 -1 9 3 -1 -1 2 -1", expected: [2, 9, 9] },
    { name: "run time is cut at the requested time", fields: "1 0 -1 90 3 -1 -1 2 30", expected: [2, 30, 30] },
  ])("$name", ({ fields, expected }) => {
    const line = `${fields} -1 1 1 -1 -1 -1 -1 -1 -1`;
    const jobs = jobsOf(readTrace(write("one.swf", line), { nodes: 8, jobs: null }));
    expect(jobs.map((job) => [job.nodes, job.run, job.request])).toEqual([expected]);
  });

  it("jobs that cannot run are dropped and counted by cause", () => {
    const lines = [
      swfLine(1, { submit: 0, run: 10, nodes: 0 }),
      swfLine(2, { submit: 0, run: 10, nodes: -1 }),
      swfLine(3, { submit: 0, run: 0, nodes: 1 }),
      swfLine(4, { submit: 0, run: -1, nodes: 1 }),
      swfLine(5, { submit: 0, run: 10, nodes: 9 }),
      swfLine(6, { submit: 0, run: 10, nodes: 8 }),
    ];
    const trace = readTrace(write("drop.swf", lines.join("\n")), { nodes: 8, jobs: null });
    expect(trace.dropped).toEqual({ noSize: 2, noRunTime: 2, tooLarge: 1 });
    expect(jobsOf(trace).map((job) => job.id)).toEqual(["6"]);
  });

  it("unsorted lines are sorted by submission, then by file order", () => {
    const lines = [30, 10, 20, 10].map((submit, i) => swfLine(i + 1, { submit, run: 1, nodes: 1 }));
    const trace = readTrace(write("unsorted.swf", lines.join("\n")), { nodes: 8, jobs: null });
    expect(jobsOf(trace).map((job) => job.id)).toEqual(["2", "4", "3", "1"]);
    expect(trace.warnings).toEqual(["line 2 is out of order of time: the jobs were sorted by submission"]);
  });

  it("--jobs limits the number of jobs", () => {
    const lines = [1, 2, 3].map((id) => swfLine(id, { submit: id, run: 1, nodes: 1 }));
    const file = write("three.swf", [...lines, "not a job"].join("\n"));
    expect(jobsOf(readTrace(file, { nodes: 8, jobs: 2 })).map((job) => job.id)).toEqual(["1", "2"]);
  });

  it.each([
    { name: "missing fields", line: "2 0 -1 10", text: "a job has 18 fields, this line has 4" },
    {
      name: "no number",
      line: swfLine(2, { submit: 0, run: 1, nodes: 1 }).replace("2 0", "2 soon"),
      text: 'field 2 is not a number: "soon"',
    },
    {
      name: "negative time",
      line: swfLine(2, { submit: -3, run: 1, nodes: 1 }),
      text: "field 2 (submit time) is negative: -3",
    },
    {
      name: "half a node",
      line: swfLine(2, { submit: 0, run: 1, nodes: 1.5 }),
      text: "the number of processors is not whole: 1.5",
    },
  ])("refuses by line: $name", ({ line, text }) => {
    expect(refusal("bad.swf", [...good.slice(0, 3), line].join("\n"))).toEqual({ line: 4, text });
  });

  it("refuses a machine of unknown size", () => {
    expect(refusal("sizeless.swf", swfLine(1, { submit: 0, run: 1, nodes: 1 }), null).text).toContain("--nodes");
  });
});

describe("files", () => {
  const lines = Array.from({ length: 5000 }, (_, i) =>
    swfLine(i + 1, { submit: i * 7, run: 3 + ((i * i) % 977), nodes: 1 + (i % 8) }),
  );
  const zipped = gzipSync(lines.join("\n"));

  it("refuses a truncated gzip by the line where it ends", () => {
    const cut = refusal("cut.swf.gz", zipped.subarray(0, zipped.length >> 1));
    expect(cut.text).toContain("truncated");
    expect(cut.line).toBeGreaterThan(1000);
    expect(cut.line).toBeLessThan(4000);
  });

  it.each([
    { name: "no gzip at all", file: "plain.swf.gz", contents: Buffer.from("1 2 3") },
    { name: "damaged gzip", file: "damaged.swf.gz", contents: Buffer.from(zipped).fill(0x55, 200, 4000) },
  ])("refuses $name", ({ file, contents }) => {
    expect(refusal(file, contents).text).toBe("is not gzip data, or it is damaged");
  });

  it("an unknown format is refused", () => {
    expect(refusal("trace.csv", "a,b").text).toContain(".swf");
  });
});

describe("JSON lines", () => {
  const submit = (ts: unknown, alloc: object): string => JSON.stringify({ ts, type: "submit", alloc });

  it("reads submissions and completions", () => {
    const text = [
      JSON.stringify({ ts: 0, type: "machine", nodes: 64 }),
      submit("2026-03-01T00:00:01Z", { id: "a", nodes: 4, walltime: "72h", tenant: "physics", priority: 4 }),
      submit("2026-03-01T00:00:00.5Z", { nodes: 1, walltime: "0-01:30:00", user: "ada" }),
      JSON.stringify({ ts: 9, type: "note", text: "passed over" }),
      JSON.stringify({ ts: "2026-03-03T20:00:01Z", type: "complete", alloc_id: "a", duration: "68h", exit: 0 }),
      JSON.stringify({ ts: 9, type: "complete", alloc_id: "from before", duration: 5 }),
    ];
    const trace = readTrace(write("good.jsonl", text.join("\n")), { nodes: null, jobs: null });
    const march = Date.UTC(2026, 2, 1) / 1000;
    expect(trace.nodes).toBe(64);
    expect(jobsOf(trace)).toEqual([
      { id: "2", user: "ada", submit: march + 0.5, run: 5400, request: 5400, nodes: 1, priority: 5 },
      { id: "a", user: "physics", submit: march + 1, run: 68 * 3600, request: 72 * 3600, nodes: 4, priority: 4 },
    ]);
  });

  it("a restarted capture repeats itself: the first submission counts, and the last line about a node", () => {
    const node = (id: string, cores: number) => JSON.stringify({ type: "node", node: { id, cpu_cores: cores } });
    const twice = submit(3, { id: "a", nodes: 1, walltime: "1h" });
    const text = [node("n1", 1), node("n2", 1), twice, node("n1", 8), twice].join("\n");
    const trace = readTrace(write("restarted.jsonl", text), { nodes: null, jobs: null });
    expect(trace.nodes).toBe(2);
    expect(trace.machine.map(({ id, cpuCores }) => [id, cpuCores])).toEqual([
      ["n1", 8],
      ["n2", 1],
    ]);
    expect(jobsOf(trace)).toHaveLength(1);
  });

  it("the captured cluster and the requests of jobs are read", () => {
    const text = [
      JSON.stringify({ type: "vcluster", vcluster: { name: "ml", scheduler: "ml_training", weights: { energy: 2 } } }),
      JSON.stringify({
        type: "node",
        node: { id: "n1", group: "g7", gpu_type: "GH200", gpu_count: 4, vcluster: "ml" },
      }),
      JSON.stringify({ type: "node", node: { id: "n2", memory_gb: 512, features: ["nvme"] } }),
      submit(3, { nodes: 1, walltime: "1h", vcluster: "ml", gpu_type: "GH200", gpu_count: 4, topology: "tight" }),
      submit(3, { nodes: 1, walltime: "1h", cpu_cores: 8, excluded_nodes: ["n1"], no_preempt: true }),
      submit(4, { nodes: 1, walltime: "1h" }),
    ];
    const trace = readTrace(write("cluster.jsonl", text.join("\n")), { nodes: null, jobs: null });
    expect(trace.nodes).toBe(2);
    expect(trace.machine).toMatchObject([
      { id: "n1", group: "g7", gpuType: "GH200", gpuCount: 4, homeVCluster: "ml" },
      { id: "n2", group: "g1", memoryBytes: 2 ** 39, features: ["nvme"], homeVCluster: null },
    ]);
    expect(trace.vclusters).toMatchObject([{ vcluster: "ml", scheduler: "ml_training", weights: { energy: 1000 } }]);
    expect(trace.requests).toMatchObject([
      { vcluster: "ml", constraints: { gpuCount: 4, topology: "tight" }, noPreempt: false },
      { constraints: { cpuCores: 8, excludedNodes: ["n1"] }, noPreempt: true },
      null,
    ]);
  });

  it("ranges, node topology and lending terms are read", () => {
    const memory = {
      domains: [{ id: 0, kind: "unified", capacityBytes: 512, numaNode: 0, cpus: [0], gpus: [0] }],
      interconnects: [],
    };
    const lending = { keep_nodes: 2, max_class: 3, max_duration: "12h", return_grace: "45s" };
    const text = [
      JSON.stringify({ type: "vcluster", vcluster: { name: "ml", preempts: true, preemptible: "never", lending } }),
      JSON.stringify({ type: "node", node: { id: "n1", cxl_memory_gb: 1, power_watts: 700, memory_topology: memory } }),
      submit(3, { nodes: { min: 1, max: 4 }, walltime: "1h", required_nodes: ["n1"], max_groups: 2 }),
      submit(4, { nodes: 1, walltime: "1h", require_conformance: true, require_unified_memory: true }),
    ];
    const trace = readTrace(write("inside.jsonl", text.join("\n")), { nodes: null, jobs: null });
    expect(trace.vclusters[0]?.sharing).toEqual({
      preempts: true,
      preemptible: "never",
      lending: { keepNodes: 2, maxClass: 3, maxDuration: 12 * 3_600_000, returnGrace: 45_000 },
    });
    expect(trace.machine[0]?.topology).toEqual({ cxlMemoryBytes: 2 ** 30, powerWatts: 700, memoryTopology: memory });
    expect([...trace.size]).toEqual([1, 1]);
    expect(trace.requests).toMatchObject([
      { maxNodes: 4, constraints: { requiredNodes: ["n1"], maxGroups: 2 } },
      { maxNodes: null, constraints: { requireConformance: true, requireUnifiedMemory: true } },
    ]);
  });

  it.each([
    {
      name: "a range the wrong way round",
      line: submit(1, { nodes: { min: 3, max: 2 }, walltime: "1h" }),
      text: "less",
    },
    { name: "half a range", line: submit(1, { nodes: { min: 3 }, walltime: "1h" }), text: '"alloc.nodes.max"' },
    { name: "a flag in words", line: submit(1, { nodes: 1, walltime: "1h", no_preempt: "no" }), text: "true or false" },
    {
      name: "a topology of nothing",
      line: '{"type":"node","node":{"id":"n1","gpu_topology":{}}}',
      text: "gpu_topology",
    },
    {
      name: "memory in words",
      line: '{"type":"node","node":{"id":"n1","memory_topology":[]}}',
      text: "memory_topology",
    },
    { name: "a lender of no shape", line: '{"type":"vcluster","vcluster":{"name":"a","lending":3}}', text: "lending" },
    {
      name: "an unknown way to be stopped",
      line: '{"type":"vcluster","vcluster":{"name":"a","preemptible":"sometimes"}}',
      text: "always, borrowed, never",
    },
  ])("refuses $name", ({ line, text }) => {
    expect(refusal("shapes.jsonl", line).text).toContain(text);
  });

  it("tenants and their quotas are read; the last line about each counts", () => {
    const tenant = (fields: object): string =>
      JSON.stringify({ type: "tenant", tenant: { name: "physics", ...fields } });
    const text = [
      JSON.stringify({ ts: 0, type: "machine", nodes: 4 }),
      tenant({ max_nodes: 1 }),
      submit(1, { nodes: 1, walltime: "1h", user: "ada", tenant: "physics" }),
      submit(2, { nodes: 1, walltime: "1h", user: "bob", tenant: "physics" }),
      submit(3, { nodes: 1, walltime: "1h", user: "cid" }),
      tenant({
        max_nodes: 3,
        fair_share_target: 0.25,
        burst_allowance: 1.5,
        node_hours_budget: 10,
        gpu_hours_budget: null,
      }),
    ];
    const trace = readTrace(write("tenants.jsonl", text.join("\n")), { nodes: null, jobs: null });
    expect([trace.users, [...trace.user]]).toEqual([
      ["ada", "bob", "cid"],
      [0, 1, 2],
    ]);
    expect([trace.tenants, [...trace.tenant]]).toEqual([
      ["physics", "cid"],
      [0, 0, 1],
    ]);
    const quota = {
      maxNodes: 3,
      fairShareMilli: 250,
      burstAllowanceMilli: 1500,
      nodeHoursBudget: 10,
      gpuHoursBudget: null,
    };
    expect(trace.limits).toMatchObject([{ name: "physics", quota }]);
  });

  it.each([
    { name: "a nameless tenant", line: '{"type":"tenant","tenant":{}}', text: '"tenant.name" must name' },
    {
      name: "a quota in words",
      line: '{"type":"tenant","tenant":{"name":"a","max_nodes":"x"}}',
      text: "tenant.max_nodes",
    },
    {
      name: "a share above all",
      line: '{"type":"tenant","tenant":{"name":"a","fair_share_target":2}}',
      text: "from 0 to 1",
    },
    { name: "no JSON", line: "{", text: "is not valid JSON" },
    { name: "no object", line: "[1]", text: "is not a JSON object" },
    { name: "no type", line: "{}", text: '"type" is missing' },
    { name: "no allocation", line: '{"type":"submit","ts":1}', text: '"alloc" is missing' },
    { name: "no time", line: '{"type":"submit","alloc":{"nodes":1,"walltime":1}}', text: '"ts" must be' },
    { name: "no walltime", line: submit(1, { nodes: 1 }), text: '"alloc.walltime" must be' },
    { name: "negative nodes", line: submit(1, { nodes: -1, walltime: "1h" }), text: '"alloc.nodes" must be' },
    { name: "class 11", line: submit(1, { nodes: 1, walltime: "1h", priority: 11 }), text: "from 0 to 10" },
    { name: "an id twice", line: submit(1, { id: 1, nodes: 1, walltime: "1h" }), text: "submitted twice" },
    { name: "a negative time", line: submit(-5, { nodes: 1, walltime: "1h" }), text: '"ts" is negative: -5' },
    { name: "a GPU count in words", line: submit(1, { nodes: 1, walltime: 1, gpu_count: "four" }), text: "gpu_count" },
    {
      name: "a node in no list",
      line: submit(1, { nodes: 1, walltime: 1, excluded_nodes: "n1" }),
      text: "excluded_nodes",
    },
    { name: "a wish in words", line: submit(1, { nodes: 1, walltime: 1, no_preempt: "yes" }), text: "no_preempt" },
    { name: "a topology", line: submit(1, { nodes: 1, walltime: 1, topology: "loose" }), text: '"any" or "tight"' },
    { name: "a nameless node", line: '{"type":"node","node":{}}', text: '"node.id" must name' },
    { name: "a scheduler", line: '{"type":"vcluster","vcluster":{"name":"a","scheduler":"x"}}', text: "hpc_backfill" },
    {
      name: "a weight",
      line: '{"type":"vcluster","vcluster":{"name":"a","weights":{"priority":-1}}}',
      text: "weights.priority",
    },
    { name: "an end of nothing", line: '{"type":"complete","duration":1}', text: '"alloc_id" is missing' },
    { name: "an end without length", line: '{"type":"complete","alloc_id":"1"}', text: '"duration" must be' },
  ])("refuses by line: $name", ({ line, text }) => {
    const found = refusal("bad.jsonl", `${submit(0, { id: 1, nodes: 1, walltime: "1h" })}\n\n${line}`);
    expect(found.line).toBe(3);
    expect(found.text).toContain(text);
  });
});
