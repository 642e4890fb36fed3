// The start: the first server bootstraps the cluster, the others join, the agents connect, and one tenant gets a
// quota.
import { eventually } from "../harness/eventually.ts";
import type { ChaosCluster } from "./cluster.ts";
import { isReady, notReady } from "./faults/recovery.ts";

const WITHIN_MS = 90_000;

export async function bootstrapCluster(
  cluster: ChaosCluster,
  {
    limited,
    others,
  }: { readonly limited: { readonly tenant: string; readonly nodes: number }; readonly others: readonly string[] },
): Promise<void> {
  for (const server of cluster.servers) {
    const first = cluster.server(1).machine.address;
    server.start(server.n === 1 ? ["--bootstrap"] : ["--join", `${first}:50051`]);
    await eventually({ what: `server ${server.n} is ready`, withinMs: WITHIN_MS, everyMs: 200 }, async () => {
      if (!server.isRunning()) throw new Error(`server ${server.n} ended; see ${server.logFile}`);
      return (await isReady(cluster, server.n)) ? true : null;
    });
  }
  for (const node of cluster.nodes) node.start();
  await eventually({ what: "every node is ready", withinMs: WITHIN_MS, everyMs: 200 }, async () =>
    (await notReady(cluster)).length === 0 ? true : null,
  );
  const bodies = [{ id: limited.tenant, quota: { max_nodes: limited.nodes } }, ...others.map((id) => ({ id }))];
  for (const body of bodies) {
    const made = await cluster.api(await cluster.leader(), "POST", "/tenants", body);
    if (made.status !== 200) throw new Error(`the tenant was refused: ${made.status} ${made.text}`);
  }
}
