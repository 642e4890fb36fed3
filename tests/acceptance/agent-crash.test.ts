// Workloads outlive their agent and their server: through any crash and restart a job continues, starts once, and its
// end is reported once.
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { eventually, sleep } from "../harness/eventually.ts";
import { isAlive } from "../harness/processes.ts";
import { useCluster } from "../harness/use-cluster.ts";

const cluster = useCluster({ nodes: 2 });

test("a job survives kill -9 of its agent, and its end is reported once", async () => {
  const job = await startJob("agent-killed");
  await cluster.agent(job.node).kill();
  await sleep(300);
  expect(isAlive(job.pid)).toBe(true);
  expect((await cluster.allocation(job.id)).state).toBe("running");
  cluster.startAgent(job.node);
  await cluster.nodesReady([job.node]);
  expect(isAlive(job.pid)).toBe(true);
  job.finish();
  expect(await cluster.ends(job.id)).toMatchObject({ state: "completed", attempt: 1, exit_code: 0 });
  expect(job.starts()).toHaveLength(1);
  const log = await cluster.api("GET", `/allocations/${job.id}/logs?stream=stdout`);
  expect(log.text).toBe("started\nfinished\n");
});

/** How long only the node knows of the end. */
const AWAY_MS = 3_000;

test("a job that ends while its agent is away is reported when the agent is back, with the time of its end", async () => {
  const job = await startJob("ended-alone");
  await cluster.agent(job.node).kill();
  job.finish();
  await eventually({ what: "the job has ended" }, () => (isAlive(job.pid) ? null : true));
  const goneAt = Date.now();
  await sleep(AWAY_MS);
  cluster.startAgent(job.node);
  expect(await cluster.ends(job.id)).toMatchObject({ state: "completed", attempt: 1, exit_code: 0 });
  await expectEndBefore(job.id, goneAt);
  expect(job.starts()).toHaveLength(1);
});

test("a job that ends while the server is away is reported when the server is back, with the time of its end", async () => {
  const job = await startJob("server-away");
  await cluster.server.kill();
  job.finish();
  await eventually({ what: "the job has ended" }, () => (isAlive(job.pid) ? null : true));
  const goneAt = Date.now();
  await sleep(AWAY_MS);
  await cluster.startServer();
  expect(await cluster.ends(job.id)).toMatchObject({ state: "completed", attempt: 1, exit_code: 0 });
  await expectEndBefore(job.id, goneAt);
  expect(job.starts()).toHaveLength(1);
});

test("a job survives kill -9 of agent and server and can still be cancelled", async () => {
  const job = await startJob("both-killed");
  await Promise.all([cluster.server.kill(), cluster.agent(job.node).kill()]);
  await cluster.startServer();
  cluster.startAgent(job.node);
  await cluster.nodesReady([job.node]);
  expect(isAlive(job.pid)).toBe(true);
  expect((await cluster.allocation(job.id)).state).toBe("running");
  expect((await cluster.api("DELETE", `/allocations/${job.id}`)).status).toBe(200);
  await eventually({ what: "the job has ended" }, () => (isAlive(job.pid) ? null : true));
  expect(job.starts()).toHaveLength(1);
});

test("a job whose processes are killed together with its agent is found dead, not run again", async () => {
  const job = await startJob("killed-too");
  await cluster.agent(job.node).kill();
  process.kill(job.pid, "SIGKILL");
  cluster.startAgent(job.node);
  const record = await cluster.ends(job.id);
  expect(record.state).toBe("failed");
  expect(record.attempt).toBe(1);
  expect(job.starts()).toHaveLength(1);
});

test("a cleanly stopped agent leaves its job running", async () => {
  const job = await startJob("agent-stopped");
  expect(await cluster.agent(job.node).stop()).toBe(0);
  expect(isAlive(job.pid)).toBe(true);
  cluster.startAgent(job.node);
  job.finish();
  expect(await cluster.ends(job.id)).toMatchObject({ state: "completed", attempt: 1 });
  expect(job.starts()).toHaveLength(1);
});

/** Accounting shows the same end as the allocation. */
async function expectEndBefore(id: string, goneAt: number): Promise<void> {
  const { started_at = "", ended_at = "" } = await cluster.allocation(id);
  const [startedAt, endedAt] = [Date.parse(started_at), Date.parse(ended_at)];
  // The shell of the job was seen to be gone shortly after its end, and its wrapper writes the exit status after that.
  expect(endedAt - goneAt).toBeLessThan(AWAY_MS / 2);
  const { body } = await cluster.api<{ records: readonly Accounted[] }>("GET", "/accounting");
  const record = body.records.find((one) => one.allocation_id === id);
  expect(record?.ended_at).toBe(ended_at);
  expect(record?.elapsed_seconds).toBe((endedAt - startedAt) / 1000);
  expect((record?.node_hours ?? 0) * 3600).toBeCloseTo((endedAt - startedAt) / 1000, 2);
}

interface Accounted {
  readonly allocation_id: string;
  readonly ended_at?: string;
  readonly elapsed_seconds?: number;
  readonly node_hours?: number;
}

/** A job that runs until a file appears, and counts its starts. */
async function startJob(name: string) {
  const starts = cluster.file(`${name}.starts`);
  const done = cluster.file(`${name}.done`);
  const id = await cluster.submit({
    name,
    entrypoint: `echo $$ >> ${starts}; echo started; while [ ! -e ${done} ]; do sleep 0.05; done; echo finished`,
  });
  const record = await cluster.reaches(id, ["running"]);
  const read = (): readonly string[] =>
    readFileSync(starts, "utf8")
      .split("\n")
      .filter((line) => line !== "");
  const pid = await eventually({ what: "the job says who it is" }, () => Number(read()[0] ?? Number.NaN) || null);
  return {
    id,
    pid,
    node: record.nodes?.[0] ?? "",
    starts: read,
    finish: () => writeFileSync(done, ""),
  };
}
