// 10,000 hollow nodes on three servers whose leader is killed: how long until all are connected
// again, how fast they come, how often each says hello, what it costs the survivors, and that the
// new leader judges none of them.
import { sleep } from "../tests/harness/eventually.ts";
import { cpuSeconds } from "../tests/harness/processes.ts";
import { Quorum } from "../tests/harness/quorum.ts";
import { atLeast, type Bench, below, plain, quantile } from "./figure.ts";
import { type Census, type Fleet, startFleet } from "./scale/fleet.ts";
import { FULL } from "./scale/state.ts";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
/** A node that is silent for so long is judged. */
const TIMEOUT_S = 30;
/** Per failover: its own, and one more that found nobody. */
const HELLOS_MOST = 2;
const SETTLE_MS = 10_000;
/** After this the new leader would have judged whoever had not come back. */
const JUDGED_MS = 35_000;

export const herd: Bench = async (say) => {
  const quorum = await Quorum.start({ servers: 3, nodes: 0 });
  try {
    const fleet = startFleet({ dir: quorum.dir, servers: [1, 2, 3].map((n) => quorum.grpc(n)), nodes: FULL.nodes });
    await fleet.allConnected();
    say(`${FULL.nodes} nodes are connected, ${fleet.latest().hellos} hellos`);
    const results: Round[] = [];
    for (let n = 0; n < ROUNDS; n += 1) {
      await sleep(SETTLE_MS);
      const result = await round(quorum, fleet);
      results.push(result);
      say(
        `all back after ${result.seconds.toFixed(1)} s, at most ${result.most} per second, ${result.hellos.toFixed(2)} hellos each`,
      );
    }
    await sleep(JUDGED_MS);
    const judged = await notReady(quorum);
    const worst = (of: (one: Round) => number): number => quantile(results.map(of), 1);
    return [
      below(
        "all_connected_max",
        worst((one) => one.seconds),
        "s",
        TIMEOUT_S,
      ),
      plain(
        "connected_per_second_most",
        worst((one) => one.most),
        "nodes/s",
      ),
      plain(
        "hellos_per_node",
        worst((one) => one.hellos),
        "hellos",
      ),
      below(
        "hellos_of_one_node_most",
        worst((one) => one.hellosMost),
        "hellos",
        HELLOS_MOST + 1,
      ),
      plain(
        "survivors_processor_time_most",
        worst((one) => one.cpuSeconds),
        "s",
      ),
      atLeast("nodes_never_judged", FULL.nodes - judged, "nodes", FULL.nodes),
    ];
  } finally {
    await quorum.close();
  }
};

interface Round {
  readonly seconds: number;
  readonly most: number;
  readonly hellos: number;
  readonly hellosMost: number;
  readonly cpuSeconds: number;
}

async function round(quorum: Quorum, fleet: Fleet): Promise<Round> {
  const leader = await quorum.leader();
  const survivors = [1, 2, 3].filter((n) => n !== leader).map((n) => quorum.server(n).pid);
  const used = () => survivors.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
  const before = fleet.latest();
  const usedBefore = used();
  const killedAt = Date.now();
  await quorum.server(leader).kill();
  const gone = await fleet.someLost(before);
  const after = await fleet.allConnected();
  const since = fleet.census().filter((census) => census.atMs >= gone.atMs);
  const result = {
    seconds: (after.atMs - killedAt) / 1000,
    most: fastest(since),
    hellos: (after.hellos - before.hellos) / FULL.nodes,
    hellosMost: after.hellosMost - before.hellosMost,
    cpuSeconds: used() - usedBefore,
  };
  await quorum.startServer(leader);
  return result;
}

/** Nodes that came back in the fullest second. */
function fastest(census: readonly Census[]): number {
  let most = 0;
  for (const [n, from] of census.entries()) {
    const end = census.slice(n).findLast((later) => later.atMs <= from.atMs + 1_000);
    most = Math.max(most, (end?.connected ?? 0) - from.connected);
  }
  return most;
}

async function notReady(quorum: Quorum): Promise<number> {
  const { body } = await quorum.api<{ total?: number }>(await quorum.leader(), "GET", "/nodes?state=ready&page_size=1");
  return FULL.nodes - (body.total ?? 0);
}
