// A hundred users follow one log while its job prints ten lines per second: the CPU of server and agent beyond the first
// follower, and the latency of a line.
import { type ClientRequest, request } from "node:http";
import type { Cluster } from "../tests/harness/cluster.ts";
import { eventually, sleep } from "../tests/harness/eventually.ts";
import { cpuSeconds } from "../tests/harness/processes.ts";
import { type Bench, below, quantile, withoutTarget } from "./figure.ts";
import { withCluster } from "./with-cluster.ts";

const FOLLOWERS = 100;
const EVERY_MS = 100;
const SETTLE_MS = 3_000;
const MEASURE_MS = 15_000;
const ADDED_CPU_PERCENT = 5;

export const logFollowers: Bench = (log) =>
  withCluster({ nodes: 1 }, async (cluster) => {
    const program = `setInterval(()=>console.log(Date.now()),${EVERY_MS})`;
    const id = await cluster.submit({ command: [process.execPath, "-e", program] });
    await cluster.reaches(id, ["running"]);
    const late: number[] = [];
    const calls = [follow(cluster, id, late, 0)];
    await allFollow(calls);
    const one = await measured(cluster);
    log(`one follower: ${one.server.toFixed(2)} % of a core in the server, ${one.agent.toFixed(2)} % in the agent`);
    for (let n = 1; n < FOLLOWERS; n += 1) calls.push(follow(cluster, id, late, n));
    await allFollow(calls);
    late.length = 0;
    const all = await measured(cluster);
    log(`${FOLLOWERS} followers: ${all.server.toFixed(2)} % in the server, ${all.agent.toFixed(2)} % in the agent`);
    for (const { call } of calls) call.destroy();
    await cluster.cli(["cancel", id]);
    return [
      below("server_cpu_of_further_followers", all.server - one.server, "% of a core", ADDED_CPU_PERCENT),
      withoutTarget("agent_cpu_of_further_followers", all.agent - one.agent, "% of a core"),
      withoutTarget("lines_seen", late.length / (MEASURE_MS / 1_000), "lines/s"),
      withoutTarget("log_tail_p99", quantile(late, 0.99), "ms"),
    ];
  });

interface Follower {
  readonly call: ClientRequest;
  seen: boolean;
}

function follow(cluster: Cluster, id: string, late: number[], n: number): Follower {
  const [host = "", port = ""] = cluster.restAddress.split(":");
  const path = `/api/v1/allocations/${id}/logs/stream?stream=stdout&tail=1`;
  // Each follower is another user, because a user may follow at most ten logs.
  const headers = { "x-lattice-user": `person-${n}` };
  const call = request({ host, port, path, headers, agent: false }, (answer) => {
    if (answer.statusCode !== 200) throw new Error(`follower ${n} got status ${answer.statusCode}`);
    answer.on("data", (bytes: Buffer) => {
      follower.seen = true;
      const now = Date.now();
      for (const line of bytes.toString().trim().split("\n")) late.push(now - Number(line));
    });
  });
  const follower: Follower = { call, seen: false };
  call.on("error", () => undefined).end();
  return follower;
}

async function allFollow(all: readonly Follower[]): Promise<void> {
  await eventually({ what: "all follow", withinMs: 60_000 }, async () => (all.every(({ seen }) => seen) ? true : null));
  await sleep(SETTLE_MS);
}

/** Returns CPU in percent of a core. */
async function measured(cluster: Cluster): Promise<{ readonly server: number; readonly agent: number }> {
  const pids = [cluster.server.pid, cluster.agent("node-1").pid];
  const before = pids.map(cpuSeconds);
  const from = performance.now();
  await sleep(MEASURE_MS);
  const seconds = (performance.now() - from) / 1_000;
  const [server = 0, agent = 0] = pids.map((pid, n) => ((cpuSeconds(pid) - (before[n] ?? 0)) / seconds) * 100);
  return { server, agent };
}
