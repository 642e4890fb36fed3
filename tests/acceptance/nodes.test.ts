// Taking nodes out and putting them back: drain, undrain, disable, enable, by REST and by the CLI.
import { expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { useCluster } from "../harness/use-cluster.ts";

const cluster = useCluster({ nodes: 2 });
const act = (node: string, verb: string, body: Record<string, unknown> = {}) =>
  cluster.api("POST", `/nodes/${node}/${verb}`, { body });
const becomes = (node: string, state: string) =>
  eventually({ what: `${node} becomes ${state}` }, async () =>
    (await cluster.node(node)).state === state ? true : null,
  );

test("nodes tell what they are", async () => {
  const answer = await cluster.api("GET", "/nodes/node-1");
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({ id: "node-1", state: "ready", connected: true });
  const capabilities = answer.body.capabilities as Record<string, unknown>;
  expect(capabilities.cpu_cores).toBeGreaterThan(0);
  expect(capabilities.memory_gb).toBeGreaterThan(0);
  expect(capabilities.hostname).toBeTruthy();
});

test("a draining node finishes what it runs and takes nothing new", async () => {
  const running = await cluster.submit({ entrypoint: "sleep 2", constraints: { required_nodes: ["node-1"] } });
  await cluster.reaches(running, ["running"]);
  const drained = await act("node-1", "drain", { reason: "new memory" });
  expect(drained.status).toBe(200);
  expect(drained.body).toMatchObject({ node: { id: "node-1", state: "draining", reason: "new memory" } });
  const waiting = await cluster.submit({ entrypoint: "true", constraints: { required_nodes: ["node-1"] } });
  expect((await act("node-1", "undrain")).status).toBe(409);
  expect((await cluster.ends(running)).state).toBe("completed");
  await becomes("node-1", "drained");
  expect((await cluster.allocation(waiting)).state).toBe("pending");
  expect((await act("node-1", "undrain")).status).toBe(200);
  expect((await cluster.ends(waiting)).state).toBe("completed");
  await becomes("node-1", "ready");
});

test("a disabled node is down by that cause and heals only by enable", async () => {
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

test("verbs that do not fit the state are refused, and unknown nodes are unknown", async () => {
  expect((await act("node-1", "undrain")).body).toMatchObject({ status: 409, code: "illegal_transition" });
  expect((await act("node-1", "enable")).status).toBe(409);
  const unknown = await act("node-99", "drain");
  expect(unknown.status).toBe(404);
  expect(unknown.body).toMatchObject({ code: "unknown_node" });
  expect((await cluster.node("node-1")).state).toBe("ready");
});

test("the CLI does the same, by both names", async () => {
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
