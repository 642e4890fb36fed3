// Elements of /bin/true of one task group on four local nodes with default settings, from the submission to the end of
// the group, and the processor time of server and agents for each element. The agents' time includes the programs that
// they have started and waited for.
import { eventually } from "../tests/harness/eventually.ts";
import { cpuSeconds, cpuSecondsOfTree } from "../tests/harness/processes.ts";
import { atLeast, type Bench, withoutTarget } from "./figure.ts";
import { withCluster } from "./with-cluster.ts";

const ELEMENTS = 4_000;
const NODES = 4;
const MIN_PER_SECOND = 1_000;

export const elements: Bench = (log) =>
  withCluster({ nodes: NODES }, async (cluster) => {
    // The first attempts on a node start its warm processes.
    await ended(cluster, await cluster.submit({ command: ["/bin/true"], task_group: { start: 0, end: 15 } }));
    const agents = () => cluster.nodeIds.reduce((sum, node) => sum + cpuSecondsOfTree(cluster.agent(node).pid), 0);
    const before = { server: cpuSeconds(cluster.server.pid), agents: agents() };
    const group = { start: 0, end: ELEMENTS - 1 };
    const id = await cluster.submit({ command: ["/bin/true"], task_group: group });
    log(`submitted ${ELEMENTS} elements`);
    const record = await ended(cluster, id);
    if (record.state !== "completed") throw new Error(`the group ended as ${record.state}`);
    const seconds = (Date.parse(record.ended_at ?? "") - Date.parse(record.submitted_at)) / 1_000;
    const perElement = (spent: number): number => (spent * 1_000) / ELEMENTS;
    return [
      atLeast("ended", ELEMENTS / seconds, "elements/s", MIN_PER_SECOND),
      withoutTarget("server_cpu_per_element", perElement(cpuSeconds(cluster.server.pid) - before.server), "ms"),
      withoutTarget("agents_cpu_per_element", perElement(agents() - before.agents), "ms"),
    ];
  });

const ended = (cluster: Parameters<Parameters<typeof withCluster>[1]>[0], id: string) =>
  eventually({ what: `${id} has ended`, withinMs: 600_000, everyMs: 200 }, async () => {
    const record = await cluster.allocation(id);
    return record.state === "pending" || record.state === "running" ? null : record;
  });
