// `sbatch --test-only`: when and where a job would start, by the server's own plan; nothing is submitted.

import type { JsonObject } from "@lattice/wire";
import { complain, type Desk } from "./desk.ts";
import { compressHosts } from "./hostlist.ts";
import { localTime } from "./times.ts";

export async function showTrial({ client, compat, program, now }: Desk, body: JsonObject): Promise<number> {
  const plan = await client.plan(body);
  for (const warning of plan.warnings ?? []) complain(`${program}: warning: ${warning}`);
  const start = plan.estimated_start ?? (plan.starts_now === true ? new Date(now).toISOString() : undefined);
  if (start === undefined) {
    for (const { text } of plan.causes ?? []) complain(`${program}: ${text}`);
    complain("allocation failure: Requested node configuration is not available");
    return 1;
  }
  const nodes = plan.nodes ?? [];
  const where = nodes.length === 0 ? "" : ` using ${nodes.length} nodes on nodes ${compressHosts(nodes)}`;
  complain(
    `${program}: Job to start at ${localTime(start)}${where} in partition ${compat.partitionOf(plan.vcluster ?? "")}`,
  );
  return 0;
}
