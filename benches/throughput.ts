// 1,000 allocations of /bin/true on four local nodes, from the first submission to the last end,
// with everything on that is on by default.
import { eventually } from "../tests/harness/eventually.ts";
import { cpuSeconds } from "../tests/harness/processes.ts";
import { runClient } from "./client.ts";
import { atLeast, type Bench, plain } from "./figure.ts";
import { withCluster } from "./with-cluster.ts";

const JOBS = 1_000;
const HUNDRED = 100;
const CONNECTIONS = 8;
const LEAST_PER_SECOND = 100;
const LEAST_SHARE = 0.8;

export const throughput: Bench = (say) =>
  withCluster({ nodes: 4 }, async (cluster) => {
    const before = cpuSeconds(cluster.server.pid);
    await runClient("rest-load", {
      address: cluster.restAddress,
      connections: CONNECTIONS,
      calls: JOBS,
      body: { command: ["/bin/true"] },
    });
    say("all submitted");
    await eventually({ what: "all have ended", withinMs: 300_000, everyMs: 200 }, async () => {
      const { body } = await cluster.api<{ allocations?: unknown[] }>(
        "GET",
        "/allocations?state=pending&state=staging&state=running&page_size=1",
      );
      return (body.allocations ?? []).length === 0 ? true : null;
    });
    const records = await cluster.allocations();
    const completed = records.filter((record) => record.state === "completed");
    if (completed.length !== JOBS) throw new Error(`${completed.length} of ${JOBS} completed`);
    const ends = completed.map((record) => Date.parse(record.ended_at ?? "")).sort((a, b) => a - b);
    const first = Math.min(...completed.map((record) => Date.parse(record.submitted_at)));
    const last = ends.at(-1) ?? first;
    const rate = (from: number, to: number): number => ((to - from) * 1000) / ((ends[to] ?? 0) - (ends[from] ?? 0));
    const early = rate(0, HUNDRED - 1);
    const late = rate(JOBS - HUNDRED, JOBS - 1);
    return [
      atLeast("completed", (JOBS * 1000) / (last - first), "allocations/s", LEAST_PER_SECOND),
      plain("first_hundred", early, "allocations/s"),
      plain("last_hundred", late, "allocations/s"),
      atLeast("last_over_first", late / early, "ratio", LEAST_SHARE),
      plain("server_cpu_per_allocation", ((cpuSeconds(cluster.server.pid) - before) * 1000) / JOBS, "ms"),
    ];
  });
