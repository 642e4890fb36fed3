// Three and five servers with their own etcd members on this machine: commit latency, throughput on 16 connections, and
// the time without writes after the leader is killed or stopped.
import { sleep } from "../tests/harness/eventually.ts";
import { Quorum } from "../tests/harness/quorum.ts";
import { request } from "../tests/harness/rest.ts";
import { atLeast, type Bench, below, type Progress, quantile, withoutTarget } from "./figure.ts";
import { runClient } from "./load-client.ts";

const BODY = { entrypoint: "true", tenant: "default" };
const SINGLE_CALLS = 500;
const CONNECTIONS = 16;
const SECONDS = 10;
const KILLS = 10;
const WARM_UP_CALLS = 50;

export const quorum3: Bench = (log) => quorumOf(3, log);
export const quorum5: Bench = (log) => quorumOf(5, log);

async function quorumOf(servers: 3 | 5, log: Progress) {
  const quorum = await Quorum.start({ servers, nodes: 0 });
  try {
    const leader = await quorum.leader();
    const address = quorum.url(leader).replace("http://", "");
    log("one submission at a time");
    const single = await runClient("rest-load", { address, connections: 1, calls: SINGLE_CALLS, body: BODY });
    log(`${CONNECTIONS} connections for ${SECONDS} s`);
    const many = await runClient("rest-load", {
      address,
      connections: CONNECTIONS,
      seconds: SECONDS,
      warmUpSeconds: 2,
      body: BODY,
    });
    const figures = [
      withoutTarget("commit_p50", single.p50Ms, "ms"),
      below("commit_p99", single.p99Ms, "ms", servers === 3 ? 50 : 100),
      servers === 3
        ? atLeast("throughput", many.answers / many.seconds, "submissions/s", 1_000)
        : withoutTarget("throughput", many.answers / many.seconds, "submissions/s"),
      withoutTarget("throughput_p99", many.p99Ms, "ms"),
    ];
    return servers === 3 ? [...figures, ...(await failover(quorum, log)), ...(await handOver(quorum, log))] : figures;
  } finally {
    await quorum.close();
  }
}

async function failover(quorum: Quorum, log: Progress) {
  const gaps: number[] = [];
  for (let round = 0; round < KILLS; round += 1) {
    const leader = await quorum.leader();
    const survivor = (leader % 3) + 1;
    const killedAt = performance.now();
    await quorum.server(leader).kill();
    while (!(await canWrite(quorum, survivor))) await sleep(20);
    gaps.push(performance.now() - killedAt);
    log(`leader ${leader} killed; writes again after ${(gaps.at(-1) ?? 0).toFixed(0)} ms`);
    await quorum.startServer(leader);
  }
  return [
    withoutTarget("failover_p50", quantile(gaps, 0.5) / 1000, "s"),
    below("failover_max", quantile(gaps, 1) / 1000, "s", 4),
  ];
}

/** Measures a clean stop, from the signal to the first write at another server. */
async function handOver(quorum: Quorum, log: Progress) {
  const gaps: number[] = [];
  for (let round = 0; round < KILLS; round += 1) {
    const leader = await quorum.leader();
    const survivor = (leader % 3) + 1;
    // Warm-up: the first submission of a process takes as long as an election.
    for (let n = 0; n < WARM_UP_CALLS; n += 1) await quorum.submit(survivor, BODY);
    const signalledAt = performance.now();
    const stopped = quorum.server(leader).stop();
    // Until the leader has resigned, the follower may forward a write to it; that does not end the gap.
    await sleep(20);
    while (!(await canWrite(quorum, survivor))) await sleep(5);
    while ((await leaderOf(quorum, survivor)) === `server-${leader}`) await sleep(5);
    while (!(await canWrite(quorum, survivor))) await sleep(5);
    gaps.push(performance.now() - signalledAt);
    log(`leader ${leader} stopped; writes again after ${(gaps.at(-1) ?? 0).toFixed(0)} ms`);
    await stopped;
    await quorum.startServer(leader);
  }
  return [
    withoutTarget("hand_over_p50", quantile(gaps, 0.5), "ms"),
    below("hand_over_max", quantile(gaps, 1), "ms", 500),
  ];
}

/** Asks only this server: the cluster status would also wait for the stopping one. */
async function leaderOf(quorum: Quorum, n: number): Promise<string> {
  const { body } = await request<{ leader?: string | null }>(quorum.url(n), "GET", "/healthz");
  return body.leader ?? "";
}

const canWrite = (quorum: Quorum, n: number): Promise<boolean> =>
  quorum.submit(n, BODY).then(
    () => true,
    () => false,
  );
