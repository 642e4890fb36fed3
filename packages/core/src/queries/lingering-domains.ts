// Which domains still have processes on nodes: attempts that are over but not confirmed by the node. Their processes
// may still communicate, so the VNI stays in use.

import type { NodeId } from "../base/ids.ts";
import { domainKey } from "../model/network/domain.ts";
import type { View } from "../state/view.ts";

/** The nodes, by the key of the domain. */
export function nodesStillInDomains(
  view: Pick<View, "nodes" | "allocation">,
): ReadonlyMap<string, ReadonlySet<NodeId>> {
  const found = new Map<string, Set<NodeId>>();
  for (const { id, claims } of view.nodes()) {
    for (const { allocation, releasing } of claims) {
      const record = releasing ? view.allocation(allocation) : undefined;
      if (record?.network === undefined) continue;
      const key = domainKey(record.spec.tenant, record.network.domain);
      const nodes = found.get(key) ?? new Set<NodeId>();
      found.set(key, nodes.add(id));
    }
  }
  return found;
}
