// Drain, undrain, disable and enable by REST and CLI; and hardware discovery with a stand-in for the GPU library.
import { execFileSync } from "node:child_process";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { useCluster } from "../harness/use-cluster.ts";

const folder = mkdtempSync(join(tmpdir(), "lattice-nodes-"));
const library = join(folder, "libnvidia-ml.so.1");
const gpus = join(folder, "gpus");
/** Atomically, since a reader may be active. */
function setGpus(words: string): void {
  writeFileSync(`${gpus}.new`, words);
  renameSync(`${gpus}.new`, gpus);
}
setGpus("gpus=2");
const source = join(import.meta.dirname, "../../packages/agent/test/discovery/fake-nvml.c");
execFileSync("gcc", ["-shared", "-fPIC", "-o", library, source]);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }));

const cluster = useCluster({
  nodes: 2,
  agentArgs: ["--nvml-library", library, "--health-interval", "0.5"],
  agentEnv: { NVML_FAKE: gpus },
});
const act = (node: string, verb: string, body: Record<string, unknown> = {}) =>
  cluster.api("POST", `/nodes/${node}/${verb}`, { body });
const becomes = (node: string, state: string) =>
  eventually({ what: `${node} becomes ${state}` }, async () =>
    (await cluster.node(node)).state === state ? true : null,
  );

test("nodes report their hardware", async () => {
  const answer = await cluster.api("GET", "/nodes/node-1");
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({ id: "node-1", state: "ready", connected: true });
  const capabilities = answer.body.capabilities as Record<string, unknown>;
  expect(capabilities.cpu_cores).toBeGreaterThan(0);
  expect(capabilities.memory_gb).toBeGreaterThan(0);
  expect(capabilities.hostname).toBeTruthy();
});

test("node condition shows detected hardware and refreshes on request", async () => {
  const shown = await cluster.cli(["node", "condition", "node-1"]);
  expect(shown.code).toBe(0);
  expect(shown.stdout).toMatch(/gpu_driver:\s+580\.159\.04/);
  expect(shown.stdout).toMatch(/1\s+H100\s+80 GB\s+31 C.*GPU-00000001/);
  const before = (await cluster.node("node-1")).conformance;
  setGpus("gpus=2 mig=2");
  const fresh = await cluster.api("GET", "/nodes/node-1/condition?fresh=true");
  expect(fresh.body).toMatchObject({ node: "node-1", components: { gpus: "4 H100" } });
  await eventually({ what: "the drift is known" }, async () =>
    (await cluster.node("node-1")).conformance === before ? null : true,
  );
  expect((await cluster.api("GET", "/nodes/node-99/condition")).status).toBe(404);
  setGpus("gpus=2");
});

test("a node whose GPU is broken goes down until it is repaired and enabled", async () => {
  setGpus("gpus=2 lost");
  for (const node of ["node-1", "node-2"]) await becomes(node, "down");
  expect(await cluster.node("node-2")).toMatchObject({ cause: "hardware", reason: "GPU 0: GPU is lost" });
  setGpus("gpus=2");
  await eventually({ what: "the agents see it" }, async () =>
    (await cluster.cli(["node", "condition", "node-1", "node-2", "--fresh"])).stdout.match(/Faults:\s+none/g)
      ?.length === 2
      ? true
      : null,
  );
  for (const node of ["node-1", "node-2"]) {
    expect((await act(node, "disable")).status).toBe(200);
    expect((await act(node, "enable")).status).toBe(200);
    await becomes(node, "ready");
  }
});

test("small requests share a node in a sharing vCluster, each with its own GPUs", async () => {
  const made = await cluster.cli([
    "admin",
    "vcluster",
    "create",
    "small",
    "--scheduler",
    "interactive_fifo",
    "--share-nodes",
  ]);
  expect(made.code, made.stderr).toBe(0);
  const go = join(folder, "go");
  const entrypoint = `echo $CUDA_VISIBLE_DEVICES; until [ -e ${go} ]; do sleep 0.1; done`;
  const half = { entrypoint, vcluster: "small", constraints: { gpu_count: 1, required_nodes: ["node-1"] } };
  const ids = [await cluster.submit(half), await cluster.submit(half), await cluster.submit(half)] as const;
  const [first, second, third] = ids;
  await cluster.reaches(first, ["running"]);
  await cluster.reaches(second, ["running"]);
  const { claims = [] } = await cluster.node("node-1");
  expect(claims).toMatchObject([
    { allocation_id: first, gpu_count: 1 },
    { allocation_id: second, gpu_count: 1 },
  ]);
  expect((await cluster.allocation(third)).state).toBe("pending");
  writeFileSync(go, "");
  for (const id of ids) expect((await cluster.ends(id)).state).toBe("completed");
  const outputs = await Promise.all([first, second].map(async (id) => (await cluster.cli(["logs", id])).stdout.trim()));
  expect(outputs.toSorted()).toEqual(["0", "1"]);
});

test("a draining node finishes its work and takes no new work", async () => {
  const over = join(folder, "over");
  const entrypoint = `until [ -e ${over} ]; do sleep 0.1; done`;
  const running = await cluster.submit({ entrypoint, constraints: { required_nodes: ["node-1"] } });
  await cluster.reaches(running, ["running"]);
  const drained = await act("node-1", "drain", { reason: "new memory" });
  expect(drained.status).toBe(200);
  expect(drained.body).toMatchObject({ node: { id: "node-1", state: "draining", reason: "new memory" } });
  const waiting = await cluster.submit({ entrypoint: "true", constraints: { required_nodes: ["node-1"] } });
  expect((await act("node-1", "undrain")).status).toBe(409);
  writeFileSync(over, "");
  expect((await cluster.ends(running)).state).toBe("completed");
  await becomes("node-1", "drained");
  expect((await cluster.allocation(waiting)).state).toBe("pending");
  expect((await act("node-1", "undrain")).status).toBe(200);
  expect((await cluster.ends(waiting)).state).toBe("completed");
  await becomes("node-1", "ready");
});

test("a disabled node stays down until it is enabled", async () => {
  const disabled = await act("node-2", "disable", { reason: "smells of smoke" });
  expect(disabled.status).toBe(200);
  expect(disabled.body).toMatchObject({ node: { id: "node-2", state: "down", cause: "disabled" } });
  await cluster.agent("node-2").kill();
  cluster.startAgent("node-2");
  await eventually({ what: "its agent is back" }, async () =>
    (await cluster.node("node-2")).connected === true ? true : null,
  );
  expect(await cluster.node("node-2")).toMatchObject({ state: "down", cause: "disabled" });
  expect((await act("node-2", "enable")).status).toBe(200);
  await becomes("node-2", "ready");
});

test("node commands that do not fit the state are refused, and unknown nodes are 404", async () => {
  expect((await act("node-1", "undrain")).body).toMatchObject({ status: 409, code: "illegal_transition" });
  expect((await act("node-1", "enable")).status).toBe(409);
  const unknown = await act("node-99", "drain");
  expect(unknown.status).toBe(404);
  expect(unknown.body).toMatchObject({ code: "unknown_node" });
  expect((await cluster.node("node-1")).state).toBe("ready");
});

test("the CLI drains, disables and enables nodes under both command names", async () => {
  expect((await cluster.cli(["node", "drain", "node-1"])).code).toBe(0);
  await becomes("node-1", "drained");
  expect((await cluster.cli(["node", "undrain", "node-1"])).code).toBe(0);
  await becomes("node-1", "ready");
  expect((await cluster.cli(["admin", "drain", "node-1"])).code).toBe(0);
  await becomes("node-1", "drained");
  const list = await cluster.cli(["nodes"]);
  expect(list.stdout).toMatch(/node-1\s+Drained/);
  expect((await cluster.cli(["node", "undrain", "node-1"])).code).toBe(0);
  await becomes("node-1", "ready");
});
