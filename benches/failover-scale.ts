// Three servers with 10,000 nodes and 100,000 allocations in their state, and a steady load: the
// leader is killed, alone and together with the leader of etcd on the same machine; how long until a
// write is taken and until something is placed, and how long the killed one needs to be ready again.
import { sleep } from "../tests/harness/eventually.ts";
import { Quorum } from "../tests/harness/quorum.ts";
import { type Bench, below, type Figure, plain, quantile, type Say } from "./figure.ts";
import { killEtcd, leadEtcd } from "./scale/etcd-members.ts";
import { type Failover, failover } from "./scale/failover.ts";
import { type Fleet, startFleet } from "./scale/fleet.ts";
import { FULL, fill, totalOf } from "./scale/state.ts";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const READY_S = 10;
/** Submissions per second meanwhile. */
const LOAD = 20;
const SETTLE_MS = 10_000;

export const failoverScale: Bench = async (say) => {
  const quorum = await Quorum.start({ servers: 3, nodes: 0 });
  try {
    const fleet = startFleet({ dir: quorum.dir, servers: [1, 2, 3].map((n) => quorum.grpc(n)), nodes: FULL.nodes });
    await fleet.allConnected();
    say(`${FULL.nodes} nodes are connected`);
    await fill(quorum.url(await quorum.leader()), FULL, say);
    const stop = startLoad(quorum);
    const restarts: number[] = [];
    const alone = await rounds({ quorum, fleet, say, restarts, withEtcd: false });
    const both = await rounds({ quorum, fleet, say, restarts, withEtcd: true });
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
  readonly say: Say;
  readonly restarts: number[];
  readonly withEtcd: boolean;
}

async function rounds({ quorum, fleet, say, restarts, withEtcd }: Series): Promise<readonly Failover[]> {
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
    say(
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
    plain(`${what}_writes_p50`, quantile(writes, 0.5), "s"),
    below(`${what}_writes_max`, quantile(writes, 1), "s", writesS),
    plain(`${what}_first_placement_p50`, quantile(placements, 0.5), "s"),
    below(`${what}_first_placement_max`, quantile(placements, 1), "s", 2),
  ];
}

/** Steady submissions to all servers in turn; those that are refused meanwhile are not repeated. */
function startLoad(quorum: Quorum): () => void {
  let n = 0;
  const timer = setInterval(() => {
    n += 1;
    void quorum.submit((n % 3) + 1, { entrypoint: "true", tenant: "default" }).catch(() => {});
  }, 1000 / LOAD);
  return () => clearInterval(timer);
}
