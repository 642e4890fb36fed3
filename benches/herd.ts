// Reconnection of 10,000 hollow nodes after the leader of three servers is killed: time until all are connected, peak
// rate, hellos per node, CPU of the survivors. The new leader must not mark any node as down.
import { sleep } from "../tests/harness/eventually.ts";
import { cpuSeconds } from "../tests/harness/processes.ts";
import { Quorum } from "../tests/harness/quorum.ts";
import { atLeast, type Bench, below, quantile, withoutTarget } from "./figure.ts";
import { type Census, type Fleet, startFleet } from "./scale/fleet.ts";
import { FULL } from "./scale/state.ts";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
/** The server marks a node down after this silence. */
const TIMEOUT_S = 30;
/** Per failover: one hello, and one more that reached a dead server. */
const HELLOS_MOST = 2;
const SETTLE_MS = 10_000;
/** After this time the new leader would have marked missing nodes. */
const MARKED_DOWN_MS = 35_000;

export const herd: Bench = async (log) => {
  const quorum = await Quorum.start({ servers: 3, nodes: 0 });
  try {
    const fleet = startFleet({ dir: quorum.dir, servers: [1, 2, 3].map((n) => quorum.grpc(n)), nodes: FULL.nodes });
    await fleet.allConnected();
    log(`${FULL.nodes} nodes connected, ${fleet.latest().hellos} hellos`);
    const results: Round[] = [];
    for (let n = 0; n < ROUNDS; n += 1) {
      await sleep(SETTLE_MS);
      const result = await round(quorum, fleet);
      results.push(result);
      log(
        `all back after ${result.seconds.toFixed(1)} s, at most ${result.most} per second, ${result.hellos.toFixed(2)} hellos each`,
      );
    }
    await sleep(MARKED_DOWN_MS);
    const markedDown = await notReady(quorum);
    const worst = (of: (one: Round) => number): number => quantile(results.map(of), 1);
    return [
      below(
        "all_connected_max",
        worst((one) => one.seconds),
        "s",
        TIMEOUT_S,
      ),
      withoutTarget(
        "connected_per_second_max",
        worst((one) => one.most),
        "nodes/s",
      ),
      withoutTarget(
        "hellos_per_node",
        worst((one) => one.hellos),
        "hellos",
      ),
      below(
        "hellos_of_one_node_max",
        worst((one) => one.hellosMost),
        "hellos",
        HELLOS_MOST + 1,
      ),
      withoutTarget(
        "survivors_cpu_max",
        worst((one) => one.cpuSeconds),
        "s",
      ),
      atLeast("nodes_never_marked_down", FULL.nodes - markedDown, "nodes", FULL.nodes),
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

/** Returns the most nodes that connected within one second. */
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
