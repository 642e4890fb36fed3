// Starts an agent with many hollow nodes and waits until all are ready.
import { join } from "node:path";
import type { Cluster } from "../tests/harness/cluster.ts";
import { eventually } from "../tests/harness/eventually.ts";
import { type Program, startProgram } from "../tests/harness/program.ts";

export async function startHollow(cluster: Cluster, count: number): Promise<Program> {
  const agent = startProgram("lattice-agent", {
    args: [
      "--node-id",
      "h",
      "--server",
      cluster.grpcAddress,
      "--data-dir",
      join(cluster.dir, "hollow"),
      "--hollow",
      String(count),
    ],
    logFile: join(cluster.dir, "agent-hollow.log"),
  });
  await eventually({ what: `${count} hollow nodes are ready`, withinMs: 300_000, everyMs: 1_000 }, async () => {
    if (!agent.isRunning()) throw new Error("the hollow agent has ended");
    const { body } = await cluster.api<{ total?: number }>("GET", "/nodes?state=ready&page_size=1");
    return (body.total ?? 0) >= count ? true : null;
  });
  return agent;
}
