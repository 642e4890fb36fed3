// A server with 10,000 nodes and 100,000 allocations in its state is killed and started again: the
// time until it says that it is ready, on the embedded log.
import { residentBytes } from "../tests/harness/processes.ts";
import { type Bench, below, plain, quantile } from "./figure.ts";
import { startFleet } from "./scale/fleet.ts";
import { FULL, fill, totalOf } from "./scale/state.ts";
import { withCluster } from "./with-cluster.ts";

const RESTARTS = 3;
const READY_S = 10;

export const restartScale: Bench = (say) =>
  withCluster({ nodes: 0 }, async (cluster) => {
    const fleet = startFleet({ dir: cluster.dir, servers: [cluster.grpcAddress], nodes: FULL.nodes });
    await fleet.allConnected();
    say(`${FULL.nodes} nodes are connected`);
    await fill(cluster.apiUrl, FULL, say);
    const times: number[] = [];
    const back: number[] = [];
    for (let n = 0; n < RESTARTS; n += 1) {
      await cluster.server.kill();
      const from = performance.now();
      await cluster.startServer();
      times.push((performance.now() - from) / 1000);
      await fleet.allConnected();
      back.push((performance.now() - from) / 1000);
      const pending = await totalOf(cluster.apiUrl, "pending");
      say(
        `ready after ${times.at(-1)?.toFixed(2)} s, all nodes after ${back.at(-1)?.toFixed(2)} s, ${pending} pending`,
      );
    }
    return [
      below("embedded_ready_max", quantile(times, 1), "s", READY_S),
      plain("embedded_all_nodes_max", quantile(back, 1), "s"),
      plain("embedded_server_memory", residentBytes(cluster.server.pid) / 1e6, "MB"),
    ];
  });
