// Acknowledged state survives a clean stop and kill -9, and is readable at once by its writer.
import { expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { useCluster } from "../harness/use-cluster.ts";

/** Disconnected agents are not judged soon enough to move the log meanwhile. */
const cluster = useCluster({ nodes: 1, config: "node_agent: { heartbeat_timeout: 1h }\n" });

test("a restart on the same data keeps everything", async () => {
  await cluster.api("POST", "/tenants", { body: { id: "physics", description: "CERN", quota: { max_nodes: 3 } } });
  await cluster.api("POST", "/vclusters", { body: { id: "night", scheduler: "hpc_backfill", backfill_depth: 7 } });
  const done = await cluster.submit({ entrypoint: "echo kept", tenant: "physics" });
  await cluster.ends(done);
  const waiting = await cluster.submit({ entrypoint: "true", nodes: 9, tags: { why: "ünïcode" } });
  const paths = [`/allocations/${done}`, `/allocations/${waiting}`, "/tenants/physics", "/vclusters/night"];
  const before = await Promise.all(paths.map((path) => stable(path)));

  expect(await cluster.server.stop()).toBe(0);
  await cluster.startServer();
  await cluster.nodesReady();
  expect(await Promise.all(paths.map((path) => stable(path)))).toEqual(before);

  await cluster.server.kill();
  await cluster.startServer();
  expect(await Promise.all(paths.map((path) => stable(path)))).toEqual(before);
  expect((await cluster.api("GET", `/allocations/${done}/logs?stream=stdout`)).status).not.toBe(500);
  await cluster.nodesReady();
  expect((await cluster.api("GET", `/allocations/${done}/logs?stream=stdout`)).text).toBe("kept\n");
});

test("the state after a restart is the same to the last bit, from the snapshot and from the log", async () => {
  // Without agents only the servers can move the log.
  for (const node of cluster.nodeIds) await cluster.agent(node).stop();
  await eventually({ what: "the server knows that they are gone" }, async () =>
    (await cluster.nodes()).every(({ connected }) => connected !== true) ? true : null,
  );
  await cluster.submit({ entrypoint: "true", nodes: 9, tags: { why: "a record that is not empty" } });
  const before = await position();
  expect(before.state_hash).toMatch(/^[0-9a-f]{16,}$/);
  expect(await cluster.server.stop()).toBe(0);
  await cluster.startServer();
  expect(await position()).toEqual(before);

  await cluster.submit({ entrypoint: "true", nodes: 9, name: "after the snapshot" });
  const later = await position();
  expect(later.state_hash).not.toBe(before.state_hash);
  await cluster.server.kill();
  await cluster.startServer();
  expect(await position()).toEqual(later);
  for (const node of cluster.nodeIds) cluster.startAgent(node);
  await cluster.nodesReady();
});

test("ids continue after a restart and never repeat", async () => {
  const before = Number(await cluster.submit({ entrypoint: "true" }));
  await cluster.server.kill();
  await cluster.startServer();
  expect(Number(await cluster.submit({ entrypoint: "true" }))).toBeGreaterThan(before);
});

test("a write is readable at once by its writer", async () => {
  for (let n = 0; n < 50; n += 1) {
    const id = await cluster.submit({ entrypoint: "true", name: `now-${n}`, nodes: 9 });
    expect((await cluster.allocation(id)).spec.name).toBe(`now-${n}`);
    const listed = await cluster.allocations(`name=now-${n}`);
    expect(listed.map((record) => record.id)).toContain(id);
    await cluster.api("DELETE", `/allocations/${id}`);
    expect((await cluster.allocation(id)).state).toBe("cancelled");
  }
});

test("the same request id submits once, also across a kill", async () => {
  const body = { entrypoint: "true", nodes: 9, request_id: "once-only" };
  const first = await cluster.submit(body);
  expect(await cluster.submit(body)).toBe(first);
  await cluster.server.kill();
  await cluster.startServer();
  expect(await cluster.submit(body)).toBe(first);
  const other = await cluster.api("POST", "/allocations", { body: { ...body, entrypoint: "false" } });
  expect(other.status).toBe(409);
  expect(other.body).toMatchObject({ code: "request_conflict" });
});

test("answers carry their log index, and reads can require a minimum index", async () => {
  const submitted = await cluster.api("POST", "/allocations", { body: { entrypoint: "true", nodes: 9 } });
  const index = String(submitted.body.log_index);
  expect(index).toMatch(/^\d+$/);
  const read = await cluster.api("GET", `/allocations/${submitted.body.id}`, {
    headers: { "x-lattice-min-index": index },
  });
  expect(read.status).toBe(200);
  const consistent = await cluster.api("GET", `/allocations/${submitted.body.id}?consistent=true`);
  expect(consistent.status).toBe(200);
});

/** Without its time of reading. */
async function stable(path: string): Promise<unknown> {
  const { status, body } = await cluster.api("GET", path);
  expect(status, path).toBe(200);
  const { log_index: _read, pending_reasons: _now, estimated_start: _then, start_reserved: _sure, ...kept } = body;
  return kept;
}

/** The index of the state, and its hash. */
async function position(): Promise<{ readonly applied_index: string; readonly state_hash: string }> {
  const { applied_index, state_hash } = (await cluster.api("GET", "/raft/status")).body;
  return { applied_index: String(applied_index), state_hash: String(state_hash) };
}
