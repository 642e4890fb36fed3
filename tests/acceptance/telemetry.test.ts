// Resource use of a job, measured on its node and shown to its owner: every 30 s by default, every second on request,
// and never for values that are not measured.
import { expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { useCluster } from "../harness/use-cluster.ts";

const cluster = useCluster({ nodes: 1 });

interface Metrics {
  readonly series?: readonly {
    readonly metric: string;
    readonly unit: string;
    readonly node?: string;
    readonly points: readonly { readonly at: string; readonly value: number }[];
  }[];
  readonly unavailable_reason?: string;
  readonly telemetry_mode: string;
}

interface Used {
  readonly processor_ms: number;
  readonly peak_memory_bytes: number;
}

const metricsOf = async (id: string, query = ""): Promise<Metrics> =>
  (await cluster.api<Metrics>("GET", `/allocations/${id}/metrics?${query}`)).body;

const BUSY =
  "let a=[];for(let i=0;i<40;i++)a.push(Buffer.alloc(1<<20,1));setInterval(()=>{const t=Date.now();while(Date.now()-t<50);},100)";

test("debug mode samples a job every second across restarts of its agent and server", async () => {
  const id = await cluster.submit({ command: [process.execPath, "-e", BUSY] });
  await cluster.reaches(id, ["running"]);
  expect(await metricsOf(id)).toMatchObject({
    telemetry_mode: "prod",
    unavailable_reason: expect.stringContaining("No samples in that time"),
  });
  const changed = await cluster.cli(["telemetry", "--alloc", id, "--mode", "debug", "--duration", "30m"]);
  expect(changed, changed.stderr).toMatchObject({ code: 0 });
  const closely = (points: number) => async () => {
    const cpu = (await metricsOf(id, "metrics=cpu_utilization")).series?.[0];
    return cpu !== undefined && cpu.points.length >= points ? cpu : null;
  };
  const cpu = await eventually({ what: "it was sampled closely", everyMs: 2_000 }, closely(4));
  expect(cpu).toMatchObject({ metric: "cpu_utilization", unit: "percent" });
  expect(Math.max(...cpu.points.map(({ value }) => value))).toBeGreaterThan(1);
  const memory = await eventually({ what: "what it holds is known" }, async () => {
    const { series = [] } = await metricsOf(id, "mode=per_node");
    const found = series.find(({ metric }) => metric === "memory_used");
    return (found?.points.at(-1)?.value ?? 0) > 40e6 ? found : null;
  });
  expect(memory).toMatchObject({ unit: "bytes", node: "node-1" });
  expect((await cluster.cli(["top", id])).stdout).toMatch(/cpu_utilization/);
  // Unmeasured values are absent.
  expect((await metricsOf(id, "mode=per_gpu")).unavailable_reason).toContain("GPUs are not measured");

  await cluster.agent("node-1").kill();
  cluster.startAgent("node-1");
  await cluster.nodesReady();
  await cluster.server.kill();
  await cluster.startServer();
  // The restarted leader has no data, and has sent the mode to the agent again.
  await eventually({ what: "it is sampled closely again", everyMs: 2_000 }, closely(3));

  await cluster.cli(["telemetry", "--alloc", id, "--mode", "prod"]);
  expect((await metricsOf(id)).telemetry_mode).toBe("prod");
  await cluster.cli(["cancel", id]);
  await cluster.ends(id);
  // The record covers the time before the restart of the agent as well.
  const used = await eventually({ what: "its record has what it used" }, async () => {
    const { stdout } = await cluster.cli(["history", "--all", "-o", "json"]);
    const { records } = JSON.parse(stdout) as { records: { allocation_id: string; usage?: { total: Used }[] }[] };
    return records.find(({ allocation_id }) => allocation_id === id)?.usage?.[0]?.total ?? null;
  });
  expect(used.processor_ms).toBeGreaterThan(2_000);
  expect(used.peak_memory_bytes).toBeGreaterThan(40e6);
});

test("a job that ends at once has its CPU time in its record", async () => {
  const id = await cluster.submit({ command: [process.execPath, "-e", "for(;process.cpuUsage().user<1e5;);"] });
  await cluster.ends(id);
  const { body } = await cluster.api<{ usage?: { total: Used; by_node: { node: string; used: Used }[] }[] }>(
    "GET",
    `/allocations/${id}`,
  );
  expect(body.usage).toHaveLength(1);
  expect(body.usage?.[0]?.total.processor_ms).toBeGreaterThan(90);
  expect(body.usage?.[0]?.by_node).toEqual([{ node: "node-1", used: body.usage?.[0]?.total }]);
});

test("a metric stream sends each sample and ends with the allocation", async () => {
  const id = await cluster.submit({ command: [process.execPath, "-e", BUSY] });
  await cluster.reaches(id, ["running"]);
  await cluster.cli(["telemetry", "--alloc", id, "--mode", "debug"]);
  const answer = await fetch(`${cluster.apiUrl}/api/v1/allocations/${id}/metrics/stream`);
  let text = "";
  let cancelled = false;
  for await (const bytes of answer.body ?? []) {
    text += Buffer.from(bytes).toString();
    if (cancelled || text.trim().split("\n").length < 3) continue;
    cancelled = true;
    await cluster.cli(["cancel", id]);
  }
  const events = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { node: string; values: Record<string, number> });
  expect(events.length).toBeGreaterThanOrEqual(3);
  for (const { node, values } of events) {
    expect(node).toBe("node-1");
    expect(values.memory_used).toBeGreaterThan(0);
  }
});

test("an unknown telemetry mode is refused and changes nothing", async () => {
  const id = await cluster.submit({ entrypoint: "sleep 600" });
  const refused = await cluster.cli(["telemetry", "--alloc", id, "--mode", "loud"]);
  expect(refused.code).not.toBe(0);
  expect((await metricsOf(id)).telemetry_mode).toBe("prod");
  await cluster.cli(["cancel", id]);
});
