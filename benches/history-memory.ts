// Server memory with 100,000 finished allocations in its history, run by hollow nodes.
import { eventually, sleep } from "../tests/harness/eventually.ts";
import { residentBytes } from "../tests/harness/processes.ts";
import { type Bench, below, withoutTarget } from "./figure.ts";
import { startHollow } from "./hollow-nodes.ts";
import { runClient } from "./load-client.ts";
import { withCluster } from "./with-cluster.ts";

const JOBS = 100_000;
const NODES = 500;
const CONNECTIONS = 16;
/** Submitted in portions, to keep the queue short. */
const PORTION = 5_000;
const SETTLE_MS = 20_000;
const MEMORY_MB = 300;

export const historyMemory: Bench = (log) =>
  withCluster({ nodes: 0 }, async (cluster) => {
    await startHollow(cluster, NODES);
    const began = Date.now();
    let most = 0;
    for (let done = 0; done < JOBS; done += PORTION) {
      await runClient("rest-load", {
        address: cluster.restAddress,
        connections: CONNECTIONS,
        calls: PORTION,
        body: { command: ["/bin/true"], name: "history" },
      });
      await eventually({ what: "the portion has ended", withinMs: 300_000, everyMs: 200 }, async () => {
        most = Math.max(most, residentBytes(cluster.server.pid));
        const { body } = await cluster.api<{ allocations?: unknown[] }>(
          "GET",
          "/allocations?state=pending&state=staging&state=running&page_size=1",
        );
        return (body.allocations ?? []).length === 0 ? true : null;
      });
      log(`${done + PORTION} finished, ${(residentBytes(cluster.server.pid) / 1e6).toFixed(0)} MB`);
    }
    const seconds = (Date.now() - began) / 1000;
    await sleep(SETTLE_MS);
    const [oldest, newest] = [await cluster.allocation("1"), await cluster.allocation(String(JOBS))];
    if (oldest.state !== "completed" || newest.state !== "completed") throw new Error("the history is incomplete");
    return [
      below("server_memory", residentBytes(cluster.server.pid) / 1e6, "MB", MEMORY_MB),
      withoutTarget("server_memory_max", most / 1e6, "MB"),
      withoutTarget("completed", JOBS / seconds, "allocations/s"),
    ];
  });
