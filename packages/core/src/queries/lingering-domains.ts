// Which domains still have something of theirs on a node: attempts that are over, but whose end the node has yet to confirm. Their
// processes may speak until then, so the VNI stays in use.

import type { NodeId } from "../base/ids.ts";
import { domainKey } from "../model/network/domain.ts";
import type { View } from "../state/view.ts";

/** By key of the domain: the nodes. */
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
