// Three and five servers on etcd members of their own, all on this machine: one submission at a time,
// sixteen at once, and how long writes are refused after the leader is killed.
import { sleep } from "../tests/harness/eventually.ts";
import { Quorum } from "../tests/harness/quorum.ts";
import { request } from "../tests/harness/rest.ts";
import { runClient } from "./client.ts";
import { atLeast, type Bench, below, plain, quantile, type Say } from "./figure.ts";

const BODY = { entrypoint: "true", tenant: "default" };
const SINGLE_CALLS = 500;
const CONNECTIONS = 16;
const SECONDS = 10;
const KILLS = 10;
const WARM_UP_CALLS = 50;

export const quorum3: Bench = (say) => quorumOf(3, say);
export const quorum5: Bench = (say) => quorumOf(5, say);

async function quorumOf(servers: 3 | 5, say: Say) {
  const quorum = await Quorum.start({ servers, nodes: 0 });
  try {
    const leader = await quorum.leader();
    const address = quorum.url(leader).replace("http://", "");
    say("one submission at a time");
    const single = await runClient("rest-load", { address, connections: 1, calls: SINGLE_CALLS, body: BODY });
    say(`${CONNECTIONS} connections for ${SECONDS} s`);
    const many = await runClient("rest-load", {
      address,
      connections: CONNECTIONS,
      seconds: SECONDS,
      warmUpSeconds: 2,
      body: BODY,
    });
    const figures = [
      plain("commit_p50", single.p50Ms, "ms"),
      below("commit_p99", single.p99Ms, "ms", servers === 3 ? 50 : 100),
      servers === 3
        ? atLeast("throughput", many.answers / many.seconds, "submissions/s", 1_000)
        : plain("throughput", many.answers / many.seconds, "submissions/s"),
      plain("throughput_p99", many.p99Ms, "ms"),
    ];
    return servers === 3 ? [...figures, ...(await failover(quorum, say)), ...(await handOver(quorum, say))] : figures;
  } finally {
    await quorum.close();
  }
}

async function failover(quorum: Quorum, say: Say) {
  const gaps: number[] = [];
  for (let round = 0; round < KILLS; round += 1) {
    const leader = await quorum.leader();
    const survivor = (leader % 3) + 1;
    const killedAt = performance.now();
    await quorum.server(leader).kill();
    while (!(await taken(quorum, survivor))) await sleep(20);
    gaps.push(performance.now() - killedAt);
    say(`leader ${leader} killed; writes again after ${(gaps.at(-1) ?? 0).toFixed(0)} ms`);
    await quorum.startServer(leader);
  }
  return [
    plain("failover_p50", quantile(gaps, 0.5) / 1000, "s"),
    below("failover_max", quantile(gaps, 1) / 1000, "s", 4),
  ];
}

/** A clean stop: from the signal until another server takes a write. */
async function handOver(quorum: Quorum, say: Say) {
  const gaps: number[] = [];
  for (let round = 0; round < KILLS; round += 1) {
    const leader = await quorum.leader();
    const survivor = (leader % 3) + 1;
    // A server whose clients have been at work: the first submission of a process's life costs as much as the election.
    for (let n = 0; n < WARM_UP_CALLS; n += 1) await quorum.submit(survivor, BODY);
    const signalledAt = performance.now();
    const stopped = quorum.server(leader).stop();
    // Until it has resigned, the follower may still pass a write on to it: that is no gap, either.
    await sleep(20);
    while (!(await taken(quorum, survivor))) await sleep(5);
    while ((await leaderOf(quorum, survivor)) === `server-${leader}`) await sleep(5);
    while (!(await taken(quorum, survivor))) await sleep(5);
    gaps.push(performance.now() - signalledAt);
    say(`leader ${leader} asked to stop; another takes writes after ${(gaps.at(-1) ?? 0).toFixed(0)} ms`);
    await stopped;
    await quorum.startServer(leader);
  }
  return [plain("hand_over_p50", quantile(gaps, 0.5), "ms"), below("hand_over_max", quantile(gaps, 1), "ms", 500)];
}

/** As this server knows it: the status of the cluster would ask the one that stops, too, and wait for it. */
async function leaderOf(quorum: Quorum, n: number): Promise<string> {
  const { body } = await request<{ leader?: string | null }>(quorum.url(n), "GET", "/healthz");
  return body.leader ?? "";
}

const taken = (quorum: Quorum, n: number): Promise<boolean> =>
  quorum.submit(n, BODY).then(
    () => true,
    () => false,
  );
