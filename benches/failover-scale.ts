// Failover of three servers with 10,000 nodes, 100,000 allocations and a steady load. The leader is killed, alone and
// together with the etcd leader. Measures the time to the first write and the first placement, and the restart of the
// killed server.
import { sleep } from "../tests/harness/eventually.ts";
import { Quorum } from "../tests/harness/quorum.ts";
import { type Bench, below, type Figure, type Progress, quantile, withoutTarget } from "./figure.ts";
import { killEtcd, leadEtcd } from "./scale/etcd-members.ts";
import { type Failover, failover } from "./scale/failover.ts";
import { type Fleet, startFleet } from "./scale/fleet.ts";
import { FULL, fill, totalOf } from "./scale/state.ts";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const READY_S = 10;
/** Submissions per second during the failover. */
const LOAD = 20;
const SETTLE_MS = 10_000;

export const failoverScale: Bench = async (log) => {
  const quorum = await Quorum.start({ servers: 3, nodes: 0 });
  try {
    const fleet = startFleet({ dir: quorum.dir, servers: [1, 2, 3].map((n) => quorum.grpc(n)), nodes: FULL.nodes });
    await fleet.allConnected();
    log(`${FULL.nodes} nodes connected`);
    await fill(quorum.url(await quorum.leader()), FULL, log);
    const stop = startLoad(quorum);
    const restarts: number[] = [];
    const alone = await rounds({ quorum, fleet, log, restarts, withEtcd: false });
    const both = await rounds({ quorum, fleet, log, restarts, withEtcd: true });
    stop();
    return [
      ...figures("leader", alone, 4),
      ...figures("leader_and_etcd", both, 7),
      below("etcd_ready_max", quantile(restarts, 1), "s", READY_S),
    ];
  } finally {
    await quorum.close();
  }
};

interface Series {
  readonly quorum: Quorum;
  readonly fleet: Fleet;
  readonly log: Progress;
  readonly restarts: number[];
  readonly withEtcd: boolean;
}

async function rounds({ quorum, fleet, log, restarts, withEtcd }: Series): Promise<readonly Failover[]> {
  const results: Failover[] = [];
  for (let n = 0; n < ROUNDS; n += 1) {
    const leader = await quorum.leader();
    if (withEtcd) await leadEtcd(quorum, leader);
    await sleep(SETTLE_MS);
    const result = await failover(quorum, leader, async () => {
      if (withEtcd) killEtcd(quorum, leader);
      await quorum.server(leader).kill();
    });
    results.push(result);
    const from = performance.now();
    await quorum.startServer(leader);
    restarts.push((performance.now() - from) / 1000);
    await fleet.allConnected();
    const pending = await totalOf(quorum.url(leader), "pending");
    log(
      `${withEtcd ? "leader and etcd" : "leader"} killed: writes after ${result.writesMs.toFixed(0)} ms, ` +
        `placed ${result.placementMs.toFixed(0)} ms later, ready again in ${restarts.at(-1)?.toFixed(1)} s, ${pending} pending`,
    );
  }
  return results;
}

function figures(what: string, results: readonly Failover[], writesS: number): Figure[] {
  const writes = results.map((result) => result.writesMs / 1000);
  const placements = results.map((result) => result.placementMs / 1000);
  return [
    withoutTarget(`${what}_writes_p50`, quantile(writes, 0.5), "s"),
    below(`${what}_writes_max`, quantile(writes, 1), "s", writesS),
    withoutTarget(`${what}_first_placement_p50`, quantile(placements, 0.5), "s"),
    below(`${what}_first_placement_max`, quantile(placements, 1), "s", 2),
  ];
}

/** Submits to all servers in turn; rejected submissions are not repeated. */
function startLoad(quorum: Quorum): () => void {
  let n = 0;
  const timer = setInterval(() => {
    n += 1;
    void quorum.submit((n % 3) + 1, { entrypoint: "true", tenant: "default" }).catch(() => {});
  }, 1000 / LOAD);
  return () => clearInterval(timer);
}
