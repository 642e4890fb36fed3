// 1,000 allocations of /bin/true on four local nodes with default settings, twice: the programs have just started the first
// time. The queue is filled while the nodes are drained; measured is the time from undrain to the last end. The rate from the
// first submission is reported as well.
import type { Cluster } from "../tests/harness/cluster.ts";
import { eventually } from "../tests/harness/eventually.ts";
import { cpuSeconds } from "../tests/harness/processes.ts";
import { atLeast, type Bench, below, type Progress, withoutTarget } from "./figure.ts";
import { runClient } from "./load-client.ts";
import { drainAll, withCluster } from "./with-cluster.ts";

const JOBS = 1_000;
const HUNDRED = 100;
const CONNECTIONS = 8;
const MIN_PER_SECOND = 100;
const MIN_SHARE = 0.8;
const MAX_SERVER_MS = 1.5;

export const throughput: Bench = (log) =>
  withCluster({ nodes: 4 }, async (cluster) => {
    const cold = await run(cluster, log);
    const warm = await run(cluster, log);
    const { early, late } = cold;
    return [
      atLeast("completed", cold.perSecond, "allocations/s", MIN_PER_SECOND),
      withoutTarget("completed_from_first_submission", cold.fromSubmission, "allocations/s"),
      withoutTarget("first_hundred", early, "allocations/s"),
      withoutTarget("last_hundred", late, "allocations/s"),
      atLeast("last_over_first", late / early, "ratio", MIN_SHARE),
      withoutTarget("server_cpu_per_allocation", cold.serverMs, "ms"),
      withoutTarget("agent_cpu_per_allocation", cold.agentMs, "ms"),
      withoutTarget("second_completed", warm.perSecond, "allocations/s"),
      below("second_server_cpu_per_allocation", warm.serverMs, "ms", MAX_SERVER_MS),
      withoutTarget("second_agent_cpu_per_allocation", warm.agentMs, "ms"),
    ];
  });

async function run(cluster: Cluster, log: Progress) {
  const agents = cluster.nodeIds.map((node) => cluster.agent(node).pid);
  const cpu = () => ({
    server: cpuSeconds(cluster.server.pid),
    agents: agents.reduce((sum, pid) => sum + cpuSeconds(pid), 0),
  });
  await drainAll(cluster);
  const known = new Set((await cluster.allocations()).map(({ id }) => id));
  const before = cpu();
  const client = { address: cluster.restAddress, connections: CONNECTIONS, calls: JOBS };
  await runClient("rest-load", { ...client, body: { command: ["/bin/true"] } });
  log("all submitted");
  const drained = await cluster.allocations("state=pending");
  if (drained.length !== JOBS) throw new Error(`${drained.length} of ${JOBS} allocations are pending`);
  const undrained = Date.now();
  await Promise.all(cluster.nodeIds.map((node) => cluster.api("POST", `/nodes/${node}/undrain`, { body: {} })));
  await eventually({ what: "all have ended", withinMs: 300_000, everyMs: 200 }, async () => {
    const states = "state=pending&state=staging&state=running&page_size=1";
    const { body } = await cluster.api<{ allocations?: unknown[] }>("GET", `/allocations?${states}`);
    return (body.allocations ?? []).length === 0 ? true : null;
  });
  const after = cpu();
  const records = (await cluster.allocations()).filter(({ id }) => !known.has(id));
  const completed = records.filter((record) => record.state === "completed");
  if (completed.length !== JOBS) throw new Error(`${completed.length} of ${JOBS} completed`);
  const ends = completed.map((record) => Date.parse(record.ended_at ?? "")).sort((a, b) => a - b);
  const submitted = Math.min(...completed.map((record) => Date.parse(record.submitted_at)));
  const last = ends.at(-1) ?? undrained;
  return {
    perSecond: perSecond(JOBS, undrained, last),
    fromSubmission: perSecond(JOBS, submitted, last),
    // Both intervals run from end to end; starting at the first start would distort the comparison.
    early: perSecond(HUNDRED - 1, ends[0] ?? 0, ends[HUNDRED - 1] ?? 0),
    late: perSecond(HUNDRED - 1, ends[JOBS - HUNDRED] ?? 0, last),
    serverMs: ((after.server - before.server) * 1000) / JOBS,
    agentMs: ((after.agents - before.agents) * 1000) / JOBS,
  };
}

const perSecond = (jobs: number, from: number, to: number): number => (jobs * 1000) / (to - from);
