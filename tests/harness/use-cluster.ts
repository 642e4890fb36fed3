// Ties a cluster to the tests around the call: started before the first, its logs shown when one
// fails, gone after the last.
import { afterAll, afterEach, beforeAll } from "vitest";
import { Cluster, type ClusterOptions } from "./cluster.ts";

/** A cluster that lives as long as the tests of the file (or the describe block) it is called in. */
export function useCluster(options: ClusterOptions): Cluster {
  const cluster = new Cluster(options);
  beforeAll(async () => {
    try {
      await cluster.start();
    } catch (error) {
      cluster.printLogs();
      throw error;
    }
  });
  afterEach(({ task }) => {
    if (task.result?.state === "fail") cluster.printLogs();
  });
  afterAll(() => cluster.close());
  return cluster;
}
