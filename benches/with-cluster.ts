// Provides a cluster for one measurement and always removes it afterwards.
import { execFileSync } from "node:child_process";
import { Cluster, type ClusterOptions } from "../tests/harness/cluster.ts";
import { eventually } from "../tests/harness/eventually.ts";

/** `accounts` of the machine exist while it measures. */
export async function withCluster<T>(
  options: ClusterOptions,
  measure: (cluster: Cluster) => Promise<T>,
  accounts: readonly string[] = options.agentArgs?.includes("--user-mapping") === true ? [ACCOUNT] : [],
): Promise<T> {
  const cluster = new Cluster(options);
  const removals = accounts.map(makeAccount);
  try {
    await cluster.start();
    return await measure(cluster);
  } catch (error) {
    cluster.printLogs();
    throw error;
  } finally {
    await cluster.close();
    for (const remove of removals) remove();
  }
}

const ACCOUNT = "lattice-bench";

/** Makes an ordinary account; returns its removal. */
function makeAccount(name: string): () => void {
  execFileSync("useradd", ["--create-home", "--shell", "/bin/sh", name]);
  return () => {
    execFileSync("userdel", ["--force", "--remove", name], { stdio: "ignore" });
  };
}

/** The user of the measured jobs: the agent's own, or another account, as agents that run as root do in production. */
export interface JobUser {
  /** Suffix of the figure names. */
  readonly suffix: string;
  readonly agentArgs: readonly string[];
  readonly user: string;
}

export const JOB_USERS: readonly [JobUser, JobUser] = [
  { suffix: "", agentArgs: [], user: "root" },
  { suffix: "_as_user", agentArgs: ["--user-mapping", "passwd", "--allow-unauthenticated"], user: ACCOUNT },
];

/** Drains all nodes, so that nothing is placed. */
export async function drainAll(cluster: Cluster): Promise<void> {
  for (const node of cluster.nodeIds) await cluster.api("POST", `/nodes/${node}/drain`, { body: { reason: "bench" } });
  await eventually({ what: "all nodes are drained" }, async () =>
    (await cluster.nodes()).every((node) => node.state === "drained") ? true : null,
  );
}
