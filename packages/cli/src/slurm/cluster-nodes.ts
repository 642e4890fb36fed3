// Nodes and vClusters as Slurm nodes and partitions. A node with a home vCluster belongs to its partition; a node
// without one belongs to all partitions.

import type { Node, VCluster } from "@lattice/sdk";
import type { SlurmContext } from "./context.ts";

export interface Partition {
  readonly name: string;
  readonly vcluster: VCluster;
  readonly nodes: readonly Node[];
}

export interface ClusterView {
  readonly nodes: readonly Node[];
  readonly partitions: readonly Partition[];
}

export async function readCluster(context: SlurmContext): Promise<ClusterView> {
  const nodes: Node[] = [];
  for await (const node of context.client.nodes.listAll()) nodes.push(node);
  nodes.sort((a, b) => a.id.localeCompare(b.id, "en", { numeric: true }));
  const { vclusters } = await context.client.vclusters.list();
  const partitions = vclusters.flatMap((vcluster) => {
    const own = nodes.filter(({ home_vcluster: home }) => home === undefined || home === "" || home === vcluster.id);
    return namesOf(context, vcluster.id).map((name) => ({ name, vcluster, nodes: own }));
  });
  return { nodes, partitions };
}

/** Several partitions may map to one vCluster. */
function namesOf({ compat }: SlurmContext, vcluster: string): readonly string[] {
  const names = Object.entries(compat.mapping.partitions ?? {}).flatMap(([name, stands]) =>
    stands === vcluster ? [name] : [],
  );
  return names.length === 0 ? [vcluster] : names;
}

interface NodeStateName {
  /** The value of `%t`. */
  readonly short: string;
  readonly long: string;
}

const IN_USE: NodeStateName = { short: "alloc", long: "allocated" };
const FREE: NodeStateName = { short: "idle", long: "idle" };

/** A `*` marks a node that does not respond. */
export function nodeState({ state, claims = [] }: Node): NodeStateName {
  const busy = claims.length > 0;
  const now = busy ? IN_USE : FREE;
  switch (state) {
    case "ready":
      return now;
    case "degraded":
      return { short: `${now.short}*`, long: `${now.long}*` };
    case "draining":
      return { short: busy ? "drng" : "drain", long: busy ? "draining" : "drained" };
    case "drained":
      return { short: "drain", long: "drained" };
    case "booting":
      return { short: "boot", long: "boot" };
    case "unknown":
      return { short: "unk*", long: "unknown*" };
    case "down":
    case "failed":
      return { short: "down*", long: "down*" };
  }
}

export const megabytes = ({ capabilities }: Node): number => Math.round((capabilities?.memory_gb ?? 0) * 1024);

export function gresText({ capabilities }: Node): string {
  const count = capabilities?.gpu_count ?? 0;
  if (count === 0) return "(null)";
  return capabilities?.gpu_type ? `gpu:${capabilities.gpu_type.toLowerCase()}:${count}` : `gpu:${count}`;
}

export const isBusy = ({ claims = [] }: Node): boolean => claims.length > 0;
