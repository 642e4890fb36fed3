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

/** Nothing will be placed until the nodes are undrained. */
export async function drainAll(cluster: Cluster): Promise<void> {
  for (const node of cluster.nodeIds) await cluster.api("POST", `/nodes/${node}/drain`, { body: { reason: "bench" } });
  await eventually({ what: "all nodes are drained" }, async () =>
    (await cluster.nodes()).every((node) => node.state === "drained") ? true : null,
  );
}
