// The beginning: the first server begins the cluster, the others join it, the agents come, and one tenant gets a quota.
import { eventually } from "../harness/eventually.ts";
import { isReady, notReady } from "./faults/recovery.ts";
import type { Stage } from "./stage.ts";

const WITHIN_MS = 90_000;

export async function begin(stage: Stage, limited: { readonly tenant: string; readonly nodes: number }): Promise<void> {
  for (const server of stage.servers) {
    const first = stage.server(1).machine.address;
    server.start(server.n === 1 ? ["--bootstrap"] : ["--join", `${first}:50051`]);
    await eventually({ what: `server ${server.n} is ready`, withinMs: WITHIN_MS, everyMs: 200 }, async () => {
      if (!server.isRunning()) throw new Error(`server ${server.n} ended; see ${server.logFile}`);
      return (await isReady(stage, server.n)) ? true : null;
    });
  }
  for (const node of stage.nodes) node.start();
  await eventually({ what: "every node is ready", withinMs: WITHIN_MS, everyMs: 200 }, async () =>
    (await notReady(stage)).length === 0 ? true : null,
  );
  const body = { id: limited.tenant, quota: { max_nodes: limited.nodes } };
  const made = await stage.api(await stage.leader(), "POST", "/tenants", body);
  if (made.status !== 200) throw new Error(`the tenant was refused: ${made.status} ${made.text}`);
}
