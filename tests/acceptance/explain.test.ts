// Explanations end to end: `lattice why`, `submit --dry-run` and `status --verbose` for real jobs, before and after a
// restart; and a live cluster captured and replayed by rm-replay.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { root } from "../harness/program.ts";
import { useCluster } from "../harness/use-cluster.ts";

const TRACE = join(process.env.TMPDIR ?? "/tmp", `lattice-trace-${process.pid}.jsonl`);
const cluster = useCluster({ nodes: 2, config: `scheduler:\n  trace_capture: ${TRACE}\n` });
const run = promisify(execFile);

interface Answer {
  readonly state: string;
  readonly summary: string;
  readonly causes?: readonly { readonly code: string }[];
  readonly nodes?: { readonly in_use?: readonly { readonly allocation_id?: string; readonly nodes: number }[] };
  readonly suggestions?: readonly { readonly kind: string; readonly starts_now?: boolean }[];
  readonly placement?: { readonly nodes: readonly string[]; readonly scores: Readonly<Record<string, number>> };
  readonly estimated_start?: string;
  readonly queue?: { readonly reserved_start?: string; readonly scores?: Readonly<Record<string, number>> };
}

test("lattice why explains an allocation from pending to its end, across a restart", async () => {
  const first = await cluster.submit({ entrypoint: "sleep 300", walltime: "10m" });
  await cluster.reaches(first, ["running"]);
  const second = await cluster.submit({ entrypoint: "true", nodes: 2, walltime: "5m", name: "wide" });
  const reported = await eventually({ what: "the allocation is explained with an estimate" }, async () => {
    const { body } = await cluster.api<Answer>("GET", `/allocations/${second}/explain`);
    return body.estimated_start === undefined ? null : body;
  });
  expect(reported.causes?.map(({ code }) => code)).toContain("busy");
  expect(reported.nodes?.in_use).toMatchObject([{ allocation_id: first, nodes: 1 }]);
  expect(reported.suggestions).toMatchObject([{ kind: "nodes", starts_now: true }]);

  const text = await cluster.cli(["why", second]);
  expect(text.stderr).toBe("");
  expect(text.stdout).toMatch(/is Pending\. Needs 2 nodes; 2 match, 1 of them free now\. Expected to start in/);
  expect(text.stdout).toMatch(/1 busy with 1 \(.+\), until/);
  expect(text.stdout).toMatch(/With 1 node instead of 2 it would start now/);
  expect(JSON.parse((await cluster.cli(["why", second, "-o", "json"])).stdout)).toMatchObject({ id: second });
  expect((await cluster.cli(["why", second, "-o", "yaml"])).stdout).toMatch(/^id: /m);
  expect((await cluster.cli(["why", "999"])).code).not.toBe(0);

  await eventually({ what: "the timeline has its place in the queue" }, async () => {
    const { stdout } = await cluster.cli(["status", second, "--verbose"]);
    return /Timeline\n.*Submitted by/.test(stdout) && /Reserved 2 nodes, to start in/.test(stdout) ? true : null;
  });

  await cluster.api("POST", `/allocations/${first}/cancel`, { body: {} });
  await cluster.ends(second);
  const metrics = await fetch(`${cluster.apiUrl}/metrics`).then((answer) => answer.text());
  expect(metrics).toMatch(/lattice_eta_error_seconds_count\{vcluster="[^"]+",estimate="first"\} 1/);
  expect(metrics).toMatch(/lattice_scheduling_cost_function_duration_seconds_count\{vcluster="[^"]+"\} [1-9]/);
  const ended = (await cluster.api<Answer>("GET", `/allocations/${second}/explain`)).body;
  expect(ended).toMatchObject({ state: "completed", placement: { nodes: ["node-1", "node-2"] } });
  expect(ended.placement?.scores.total).toBeGreaterThan(0);

  await cluster.server.stop();
  await cluster.startServer();
  expect((await cluster.api<Answer>("GET", `/allocations/${second}/explain`)).body.placement).toEqual(ended.placement);
  const { entries } = (await cluster.api<{ entries: { kind: string }[] }>("GET", `/allocations/${second}/timeline`))
    .body;
  expect(entries.map(({ kind }) => kind)).toEqual(["submitted", "placed", "started", "completed"]);
});

test("a dry run names nodes and start, submits nothing, and refuses what a submission refuses", async () => {
  await cluster.nodesReady();
  const before = (await cluster.allocations()).length;
  const now = await cluster.cli(["submit", "--dry-run", "--nodes=2", "--", "true"]);
  expect(now.stdout).toMatch(/^Would start now on node-1, node-2\nNothing was submitted\.\n$/);
  const json = await cluster.cli(["submit", "--dry-run", "--nodes=9", "-o", "json", "--", "true"]);
  expect(JSON.parse(json.stdout)).toMatchObject({ causes: [{ code: "no_matching_nodes" }] });
  const bad = await cluster.cli(["submit", "--dry-run", "--walltime=soon", "--", "true"]);
  const real = await cluster.cli(["submit", "--walltime=soon", "--", "true"]);
  expect(bad.code).toBe(real.code);
  expect(bad.stderr).toBe(real.stderr);
  expect((await cluster.allocations()).length).toBe(before);
});

test("signals reach the scheduler from a file", async () => {
  const set = await cluster.cli(["admin", "signals", "--file", "-", "--valid", "60"], {
    input: "energy_price: 0.25\n",
  });
  expect(set.stderr).toBe("");
  expect(set.stdout).toMatch(/Energy price: +0\.25/);
  expect((await cluster.cli(["admin", "signals"])).stdout).toMatch(/Valid until:/);
  const bad = await cluster.cli(["admin", "signals", "--file", "-"], { input: "energy_price: 7\n" });
  expect(bad.stderr).toMatch(/energy_price/);
});

test("a captured trace replays", async () => {
  const ids = [];
  for (let n = 0; n < 3; n += 1) ids.push(await cluster.submit({ entrypoint: "sleep 0.2", walltime: "1m", nodes: 2 }));
  for (const id of ids) await cluster.ends(id);
  await eventually({ what: "the trace has every end" }, async () => {
    const ends = readFileSync(TRACE, "utf8")
      .split("\n")
      .filter((line) => line.includes('"complete"'));
    return ends.length >= 5 ? true : null;
  });
  const program = join(root, "packages", "replay", "bin", "rm-replay.js");
  const out = cluster.file("replayed");
  const { stdout } = await run(process.execPath, [program, "--trace", TRACE, "--output", out, "--policy", "lattice"]);
  expect(stdout).toMatch(/allocations|jobs/i);
  const rows = readFileSync(join(out, "allocations.csv"), "utf8").trim().split("\n");
  // The cancelled one ran as well.
  expect(rows).toHaveLength(1 + 5);
  const summary = JSON.parse(readFileSync(join(out, "summary.json"), "utf8"));
  expect(JSON.stringify(summary)).toContain("2");
});

test("a submission to a full machine gets a reservation within seconds and keeps it against later arrivals", async () => {
  await cluster.cli(["admin", "vcluster", "set-config", "--name=hpc-batch", "--backfill-depth=10"]);
  const long = await cluster.submit({ entrypoint: "sleep 300", walltime: "10m", nodes: 2 });
  await cluster.reaches(long, ["running"]);
  const reserved = (id: string) =>
    eventually({ what: `allocation ${id} has a place` }, async () => {
      const { body } = await cluster.api<Answer>("GET", `/allocations/${id}/explain`);
      return body.queue?.reserved_start ?? null;
    });
  // The first report of a queue comes at once; the second allocation follows right after it.
  const ids = [];
  for (let n = 0; n < 2; n += 1) ids.push(await cluster.submit({ entrypoint: "true", nodes: 2, walltime: "5m" }));
  const [first, second] = ids as [string, string];
  const promised = [await reserved(first), await reserved(second)];
  const other = await cluster.submit({ entrypoint: "true", nodes: 2, walltime: "5m", vcluster: "ml-training" });
  expect(Date.parse(await reserved(other))).toBeGreaterThan(Date.parse(promised[1] ?? ""));
  expect([await reserved(first), await reserved(second)]).toEqual(promised);
  // Of two otherwise equal allocations, the one with checkpoints has the higher score.
  const takes = await cluster.submit({ entrypoint: "true", nodes: 2, walltime: "5m", checkpoint: "auto" });
  await reserved(takes);
  const plain = (await cluster.api<Answer>("GET", `/allocations/${second}/explain`)).body;
  const counted = (await cluster.api<Answer>("GET", `/allocations/${takes}/explain`)).body;
  expect([plain.queue?.scores?.checkpoint ?? 0, (counted.queue?.scores?.checkpoint ?? 0) > 0]).toEqual([0, true]);
  for (const id of [takes, other, second, first, long]) await cluster.cli(["cancel", id]);
  for (const id of [takes, other, second, first, long]) await cluster.ends(id);
});
