// A reactive service scales by GPU utilization, measured through a stand-in for NVML: it grows onto a lent node,
// returns it on request, and continues. An oscillating service raises a notice.
import { execFileSync } from "node:child_process";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { useCluster } from "../harness/use-cluster.ts";

const OWNER = "ml-training";
const folder = mkdtempSync(join(tmpdir(), "lattice-lent-"));
const library = join(folder, "libnvidia-ml.so.1");
const gpus = join(folder, "gpus");
const setGpus = (words: string): void => {
  writeFileSync(`${gpus}.new`, words);
  renameSync(`${gpus}.new`, gpus);
};
setGpus("gpus=2 load=90");
const source = join(import.meta.dirname, "../../packages/agent/test/discovery/fake-nvml.c");
execFileSync("gcc", ["-shared", "-fPIC", "-o", library, source]);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }));

const cluster = useCluster({
  nodes: 2,
  homes: { "node-1": "hpc-batch", "node-2": OWNER },
  agentArgs: ["--nvml-library", library],
  agentEnv: { NVML_FAKE: gpus },
  config: "node_agent: { heartbeat_interval: 500ms, heartbeat_timeout: 20s }\n",
});

type Service = Awaited<ReturnType<typeof cluster.allocation>>;
interface Answer {
  readonly events: readonly { readonly kind: string; readonly text: string }[];
}

const policy = (metric: string, target: string) => ({
  min: 1,
  max: 2,
  metric,
  target,
  evaluation_interval_seconds: 1,
  scale_up_window_seconds: 1,
  scale_down_window_seconds: 1,
  cooldown_seconds: 1,
});

const size = (id: string, count: number): Promise<Service> =>
  eventually({ what: `${id} runs on ${count} nodes` }, async () => {
    const record = await cluster.allocation(id);
    return record.state === "running" && record.nodes?.length === count ? record : null;
  });

test("a service scales onto a lent node by GPU load, returns it, and continues", async () => {
  const id = await cluster.submit({
    entrypoint: "exec sleep 600",
    reactive: true,
    preemption_class: 3,
    scale_policy: policy("gpu_utilization", "50%"),
  });
  expect((await size(id, 1)).nodes, "the least nodes are not borrowed").toEqual(["node-1"]);
  await cluster.cli(["admin", "vcluster", "update", OWNER, "--lends", "--lend-return-grace=2"]);
  expect((await size(id, 2)).nodes).toContain("node-2");

  // Between the thresholds: any change now is the owner's.
  setGpus("gpus=2 load=40");
  const owner = await cluster.submit({ entrypoint: "sleep 3", vcluster: OWNER, nodes: 1, walltime: "1h" });
  expect(await cluster.ends(owner)).toMatchObject({ state: "completed", nodes: ["node-2"] });
  expect(await cluster.allocation(id)).toMatchObject({ state: "running", nodes: ["node-1"], requeues: 0 });
  const { events } = (await cluster.api<Answer>("GET", `/allocations/${id}/events?types=scaling,preemption`)).body;
  expect(events.map(({ kind }) => kind)).toEqual(["scaled_up", "scaled_down"]);
  expect(events[0]?.text).toMatch(/gpu_utilization 0\.9\d* is above 0\.5/);
  expect(events[1]?.text).toContain("reclaimed by the vCluster that lent it");
  const asked = (await cluster.api<Answer>("GET", `/allocations/${owner}/events?types=preemption`)).body.events;
  expect(asked.map(({ text }) => text)).toEqual([`Allocation ${id} makes room for it; 1 node is reserved for it.`]);
  await cluster.cli(["cancel", id]);
  await cluster.ends(id);
});

test("a service that oscillates raises a notice for its user", async () => {
  const depth = cluster.file("depth");
  const say = (value: number): void => writeFileSync(depth, `queue_depth ${value}\n`);
  say(500);
  const id = await cluster.submit({
    entrypoint: `while :; do cp ${depth} $LATTICE_METRICS_FILE; sleep 0.2; done`,
    reactive: true,
    preemption_class: 3,
    scale_policy: policy("queue_depth", "100"),
  });
  let high = true;
  await eventually({ what: "the user has the oscillation notice", withinMs: 400_000, everyMs: 200 }, async () => {
    const { nodes = [] } = await cluster.allocation(id);
    if (nodes.length === (high ? 2 : 1)) {
      high = !high;
      say(high ? 500 : 1);
    }
    const { stdout } = await cluster.cli(["notices"]);
    return new RegExp(`service ${id} has grown and shrunk \\d+ times in turn`).test(stdout) ? true : null;
  });
  const metrics = await (await fetch(`${cluster.apiUrl}/metrics`)).text();
  expect(metrics).toContain('lattice_notices_active{kind="scaling_oscillates"} 1');
  await cluster.cli(["cancel", id]);
});
