// Ties a cluster to the surrounding tests: starts it before the first, prints its logs when a test fails, removes it
// after the last.
import { afterAll, afterEach, beforeAll } from "vitest";
import { Cluster, type ClusterOptions } from "./cluster.ts";

/** Provides a cluster for the tests of the file or describe block it is called in. */
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
