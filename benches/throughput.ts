// 1,000 allocations of /bin/true on four local nodes with default settings. The queue is filled while the nodes are
// drained; measured is the time from undrain to the last end. The rate from the first submission is reported as well.
import { eventually } from "../tests/harness/eventually.ts";
import { cpuSeconds } from "../tests/harness/processes.ts";
import { atLeast, type Bench, withoutTarget } from "./figure.ts";
import { runClient } from "./load-client.ts";
import { drainAll, withCluster } from "./with-cluster.ts";

const JOBS = 1_000;
const HUNDRED = 100;
const CONNECTIONS = 8;
const MIN_PER_SECOND = 100;
const MIN_SHARE = 0.8;

export const throughput: Bench = (log) =>
  withCluster({ nodes: 4 }, async (cluster) => {
    await drainAll(cluster);
    const before = cpuSeconds(cluster.server.pid);
    await runClient("rest-load", {
      address: cluster.restAddress,
      connections: CONNECTIONS,
      calls: JOBS,
      body: { command: ["/bin/true"] },
    });
    log("all submitted");
    const drained = await cluster.allocations("state=pending");
    if (drained.length !== JOBS) throw new Error(`${drained.length} of ${JOBS} allocations are pending`);
    const undrained = Date.now();
    await Promise.all(cluster.nodeIds.map((node) => cluster.api("POST", `/nodes/${node}/undrain`, { body: {} })));
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
    const submitted = Math.min(...completed.map((record) => Date.parse(record.submitted_at)));
    const last = ends.at(-1) ?? undrained;
    const perSecond = (jobs: number, from: number, to: number): number => (jobs * 1000) / (to - from);
    // Both intervals run from end to end; starting at the first start would distort the comparison.
    const early = perSecond(HUNDRED - 1, ends[0] ?? 0, ends[HUNDRED - 1] ?? 0);
    const late = perSecond(HUNDRED - 1, ends[JOBS - HUNDRED] ?? 0, last);
    return [
      atLeast("completed", perSecond(JOBS, undrained, last), "allocations/s", MIN_PER_SECOND),
      withoutTarget("completed_from_first_submission", perSecond(JOBS, submitted, last), "allocations/s"),
      withoutTarget("first_hundred", early, "allocations/s"),
      withoutTarget("last_hundred", late, "allocations/s"),
      atLeast("last_over_first", late / early, "ratio", MIN_SHARE),
      withoutTarget("server_cpu_per_allocation", ((cpuSeconds(cluster.server.pid) - before) * 1000) / JOBS, "ms"),
    ];
  });
