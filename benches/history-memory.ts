// The server's memory with 100,000 finished allocations in its history, run by hollow nodes.
import { eventually, sleep } from "../tests/harness/eventually.ts";
import { residentBytes } from "../tests/harness/processes.ts";
import { runClient } from "./client.ts";
import { type Bench, below, plain } from "./figure.ts";
import { startHollow } from "./hollow.ts";
import { withCluster } from "./with-cluster.ts";

const JOBS = 100_000;
const NODES = 500;
const CONNECTIONS = 16;
/** Submitted in portions, so that the queue stays as short as a real one. */
const PORTION = 5_000;
const SETTLE_MS = 20_000;
const MEMORY_MB = 300;

export const historyMemory: Bench = (say) =>
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
      say(`${done + PORTION} finished, ${(residentBytes(cluster.server.pid) / 1e6).toFixed(0)} MB`);
    }
    const seconds = (Date.now() - began) / 1000;
    await sleep(SETTLE_MS);
    const [oldest, newest] = [await cluster.allocation("1"), await cluster.allocation(String(JOBS))];
    if (oldest.state !== "completed" || newest.state !== "completed") throw new Error("the history is not whole");
    return [
      below("server_memory", residentBytes(cluster.server.pid) / 1e6, "MB", MEMORY_MB),
      plain("server_memory_most", most / 1e6, "MB"),
      plain("completed", JOBS / seconds, "allocations/s"),
    ];
  });
