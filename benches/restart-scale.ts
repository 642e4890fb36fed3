// Restart of a killed server with 10,000 nodes and 100,000 allocations on the embedded log: the time until it is ready.
import { residentBytes } from "../tests/harness/processes.ts";
import { type Bench, below, quantile, withoutTarget } from "./figure.ts";
import { startFleet } from "./scale/fleet.ts";
import { FULL, fill, totalOf } from "./scale/state.ts";
import { withCluster } from "./with-cluster.ts";

const RESTARTS = 3;
const READY_S = 10;

export const restartScale: Bench = (log) =>
  withCluster({ nodes: 0 }, async (cluster) => {
    const fleet = startFleet({ dir: cluster.dir, servers: [cluster.grpcAddress], nodes: FULL.nodes });
    await fleet.allConnected();
    log(`${FULL.nodes} nodes connected`);
    await fill(cluster.apiUrl, FULL, log);
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
      log(
        `ready after ${times.at(-1)?.toFixed(2)} s, all nodes after ${back.at(-1)?.toFixed(2)} s, ${pending} pending`,
      );
    }
    return [
      below("embedded_ready_max", quantile(times, 1), "s", READY_S),
      withoutTarget("embedded_all_nodes_max", quantile(back, 1), "s"),
      withoutTarget("embedded_server_memory", residentBytes(cluster.server.pid) / 1e6, "MB"),
    ];
  });
