// Invariants of network domains: no number twice, none outside the pool that it came from, members as the records say, none
// gone while something of it is left on a node.

import { isPlaced } from "../../src/model/allocation/phase.ts";
import { FIRST_VNI } from "../../src/model/network/domain.ts";
import { nodesStillInDomains } from "../../src/queries/lingering-domains.ts";
import type { View } from "../../src/state/view.ts";

export function brokenNetworks(view: View): string[] {
  const broken: string[] = [];
  const members = new Map<string, number>();
  for (const { id, phase, spec, network } of view.allocations()) {
    if (network === undefined || !isPlaced(phase)) continue;
    const key = `${spec.tenant}/${network.domain}`;
    members.set(key, (members.get(key) ?? 0) + 1);
    if (view.domain(key)?.vni !== network.vni)
      broken.push(`allocation ${id} is in a domain that is not ${network.vni}`);
  }
  const owners = new Map<number, string>();
  for (const domain of view.domains()) {
    const other = owners.get(domain.vni);
    if (other !== undefined) broken.push(`VNI ${domain.vni} belongs to ${other} and to ${domain.key}`);
    owners.set(domain.vni, domain.key);
    if (domain.vni < FIRST_VNI) broken.push(`domain ${domain.key} has the reserved VNI ${domain.vni}`);
    if ((members.get(domain.key) ?? 0) !== domain.members) broken.push(`domain ${domain.key} counts ${domain.members}`);
    if ((domain.members === 0) !== (domain.emptySince !== null))
      broken.push(`domain ${domain.key} is empty and in use`);
    if (domain.sensitive === true && (!domain.private || domain.members > 1))
      broken.push(`the sensitive domain ${domain.key} is shared`);
  }
  for (const key of nodesStillInDomains(view).keys())
    if (view.domain(key) === undefined) broken.push(`domain ${key} is gone while work of it is left on nodes`);
  return broken;
}
