// A cluster for the time of one measurement, gone afterwards whatever happens.
import { Cluster, type ClusterOptions } from "../tests/harness/cluster.ts";
import { eventually } from "../tests/harness/eventually.ts";

export async function withCluster<T>(options: ClusterOptions, measure: (cluster: Cluster) => Promise<T>): Promise<T> {
  const cluster = new Cluster(options);
  try {
    await cluster.start();
    return await measure(cluster);
  } catch (error) {
    cluster.printLogs();
    throw error;
  } finally {
    await cluster.close();
  }
}

/** Whose work is measured: the agent's own, or that of an account of the machine, as shipped agents of root run it. */
export interface Whose {
  /** Put behind the names of figures. */
  readonly suffix: string;
  readonly agentArgs: readonly string[];
  readonly user: string;
}

export const WHOSE: readonly [Whose, Whose] = [
  { suffix: "", agentArgs: [], user: "root" },
  { suffix: "_as_user", agentArgs: ["--user-mapping", "passwd"], user: "nobody" },
];

/** Nothing will be placed until the nodes are undrained. */
export async function drainAll(cluster: Cluster): Promise<void> {
  for (const node of cluster.nodeIds) await cluster.api("POST", `/nodes/${node}/drain`, { body: { reason: "bench" } });
  await eventually({ what: "all nodes are drained" }, async () =>
    (await cluster.nodes()).every((node) => node.state === "drained") ? true : null,
  );
}
