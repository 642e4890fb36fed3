// Latency of `GET /explain` on a live server with 10,000 busy hollow nodes and 1,000 pending allocations, one call after
// the other on one connection, while the scheduler runs.
import { eventually } from "../tests/harness/eventually.ts";
import { type Bench, below, quantile, withoutTarget } from "./figure.ts";
import { startHollow } from "./hollow-nodes.ts";
import { timesOf } from "./rest-times.ts";
import { withCluster } from "./with-cluster.ts";

const NODES = 10_000;
const RUNNING = 100;
const PENDING = 1_000;
const QUESTIONS = 400;
const WARM_UP = 40;
const P99_MS = 50;

export const whyRest: Bench = (log) =>
  withCluster({ nodes: 0 }, async (cluster) => {
    const hollow = await startHollow(cluster, NODES);
    try {
      const long = { entrypoint: "true", nodes: NODES / RUNNING, env: { LATTICE_HOLLOW_RUNTIME_MS: "3000000" } };
      for (let n = 0; n < RUNNING; n += 1) await cluster.submit({ ...long, walltime: `${60 + n}m` });
      await eventually({ what: "every node is taken", withinMs: 120_000, everyMs: 500 }, async () => {
        const { body } = await cluster.api<{ total?: number }>("GET", "/allocations?state=running&page_size=1");
        return body.total === RUNNING ? true : null;
      });
      const waiting: string[] = [];
      for (let n = 0; n < PENDING; n += 1)
        waiting.push(
          await cluster.submit({ entrypoint: "true", nodes: 1 + ((n * 7) % 200), walltime: `${5 + (n % 90)}m` }),
        );
      log(`${NODES} nodes, ${waiting.length} pending`);
      const asked = Array.from({ length: QUESTIONS + WARM_UP }, (_, n) => waiting[(n * 37) % PENDING]);
      const paths = asked.map((id) => `/api/v1/allocations/${id}/explain`);
      const times = (await timesOf(cluster.restAddress, paths)).slice(WARM_UP);
      return [
        withoutTarget("explain_p50", quantile(times, 0.5), "ms"),
        below("explain_p99", quantile(times, 0.99), "ms", P99_MS),
        withoutTarget("explain_max", quantile(times, 1), "ms"),
      ];
    } finally {
      await hollow.stop();
    }
  });
