// Latency of listing 100 out of 100,000 pending allocations over REST, one call after the other on one connection.
import { setTimeout as sleep } from "node:timers/promises";
import { type Bench, below, quantile, withoutTarget } from "./figure.ts";
import { runClient } from "./load-client.ts";
import { timesOf } from "./rest-times.ts";
import { withCluster } from "./with-cluster.ts";

const JOBS = 100_000;
const CONNECTIONS = 16;
const CALLS = 400;
const WARM_UP = 40;
const P99_MS = 20;
const SETTLE_MS = 15_000;

const LISTS = {
  all: "/api/v1/allocations?page_size=100",
  pending: "/api/v1/allocations?page_size=100&state=pending",
  // A user without allocations.
  user: "/api/v1/allocations?page_size=100&user=unused",
} as const;

export const list100k: Bench = (log) =>
  withCluster({ nodes: 0 }, async (cluster) => {
    await runClient("rest-load", {
      address: cluster.restAddress,
      connections: CONNECTIONS,
      calls: JOBS,
      body: { entrypoint: "true", name: "waits", tags: { run: "1" } },
    });
    const { body } = await cluster.api<{ total?: number }>("GET", "/allocations?page_size=1");
    log(`${body.total} allocations`);
    // Wait for the snapshot and garbage collection after the submissions, which are not part of a list.
    await sleep(SETTLE_MS);
    const figures = [];
    for (const [name, path] of Object.entries(LISTS)) {
      const paths = Array.from({ length: CALLS + WARM_UP }, () => path);
      const times = (await timesOf(cluster.restAddress, paths)).slice(WARM_UP);
      figures.push(withoutTarget(`${name}_p50`, quantile(times, 0.5), "ms"));
      figures.push(below(`${name}_p99`, quantile(times, 0.99), "ms", P99_MS));
    }
    return figures;
  });
