// Compares the network domains with the fabric manager's own list and repairs the manager: it may have lost members, or
// kept networks and members that the log has released.

import type { View } from "@lattice/core";
import type { Logger } from "pino";
import type { FabricDomains } from "../../../nodes/fabric/domains.ts";

export interface CompareParts {
  readonly view: () => View;
  readonly stillLeads: () => Promise<boolean>;
  readonly logger: Logger;
  readonly fabric: FabricDomains;
}

export async function compareFabric({ view, stillLeads, logger, fabric }: CompareParts, signal: AbortSignal) {
  const known = new Map((await fabric.list(signal)).map(({ vni, nodes }) => [vni, nodes]));
  for (const { key, vni, fabric: confirmed, tenant, name, sensitive = false } of [...view().domains()]) {
    const nodes = confirmed?.nodes ?? [];
    const listed = known.get(vni) ?? [];
    if (nodes.length === 0 || (nodes.length === listed.length && nodes.every((node) => listed.includes(node))))
      continue;
    if (!(await stillLeads())) return;
    logger.warn({ domain: key, vni }, "fabric manager has other members of a network domain: registering ours");
    await fabric.put({ vni, tenant, name, nodes, sensitive }, signal);
  }
  const { vniStart, vniEnd } = view().network;
  for (const vni of known.keys()) {
    // Read the state again: a domain may have been created since.
    const owned = Array.from(view().domains()).some((domain) => domain.vni === vni);
    if (owned || vni < vniStart || vni > vniEnd) continue;
    if (!(await stillLeads())) return;
    logger.warn({ vni }, "fabric manager has a network without a domain: removing it");
    await fabric.remove(vni, signal);
  }
}
