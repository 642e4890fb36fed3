// Rules for network domains: a VNI belongs to one domain at a time (S9), a domain is kept for its grace after its last
// allocation, nothing starts before the fabric manager has confirmed its node or next to a process of another domain,
// and at the end every VNI is free and the manager has none.

import type { Applied, Domain, NodeId, View } from "@lattice/core";
import type { Replica } from "@lattice/server";
import type { FabricManager } from "../external/fabric.ts";
import type { Machine, Process } from "../nodes/machine.ts";
import type { World } from "../world/world.ts";
import type { Watcher } from "./watcher.ts";

export interface NetworkParts {
  readonly world: World;
  readonly fabric: FabricManager;
  readonly machines: () => readonly Machine[];
}

export function networkChecks({ world, fabric, machines }: NetworkParts): Watcher {
  const counts = { domains: 0, domainsReleased: 0, poolExhausted: 0, startsInDomains: 0 };
  let known = new Map<string, Domain>();
  let exhausted = false;
  let newest: View | null = null;

  function compare(view: View, at: number): void {
    const now = new Map<string, Domain>();
    const owners = new Map<number, string>();
    for (const domain of view.domains()) {
      now.set(domain.key, domain);
      const { key, vni, tenant } = domain;
      const other = owners.get(vni);
      if (other !== undefined) world.violated("S9", `VNI ${vni} belongs to ${other} and ${key}`);
      owners.set(vni, key);
      if (!key.startsWith(`${tenant}/`)) world.violated("S9", `domain ${key} is of tenant ${tenant}`);
      const before = known.get(key);
      if (before === undefined) counts.domains += 1;
      else if (before.vni !== vni) released(before, at);
    }
    for (const domain of known.values()) if (!now.has(domain.key)) released(domain, at);
    known = now;
  }

  function released({ key, emptySince, grace, members, private: own }: Domain, at: number): void {
    counts.domainsReleased += 1;
    // A private domain ends with its allocation.
    if (own) return;
    if (emptySince === null || members > 0 || at < emptySince + grace)
      world.violated("S9", `domain ${key} is released at ${at}, empty since ${emptySince}, with a grace of ${grace}`);
  }

  /**
   * Its node was given up, or the order came late: the cluster no longer counts on it and ends it when the node
   * reconnects.
   */
  const isGivenUp = ({ order: { allocationId, attempt } }: Process, machine: Machine): boolean =>
    newest !== null &&
    !(newest.node(machine.name as NodeId)?.claims ?? []).some(
      (claim) => claim.allocation === allocationId && claim.attempt === attempt,
    );

  const domainOf = ({ order }: Process): string => `${order.tenant}/${order.network?.domain}`;

  return {
    counts,
    leastPerHour: { domains: 60, domainsReleased: 60, poolExhausted: 2, startsInDomains: 100, domainGraces: 2 },
    applied(replica: Replica, applied: Applied) {
      const { view } = replica;
      newest = view;
      compare(view, applied.at);
      const notice = view.notice("vni_pool_exhausted/cluster");
      const isExhausted = notice !== undefined && notice.clearedAt === undefined;
      if (isExhausted && !exhausted) counts.poolExhausted += 1;
      exhausted = isExhausted;
    },
    started(machine, process) {
      const { network } = process.order;
      if (network === undefined) return;
      counts.startsInDomains += 1;
      const what = `${process.key} on ${machine.name}`;
      // A node that the manager excludes cannot communicate.
      if (isGivenUp(process, machine)) return;
      if (!fabric.has(network.vni, machine.name) && !fabric.forgotten(network.vni))
        world.violated("fabric", `${what} began in VNI ${network.vni} before the fabric manager let its node in`);
      for (const other of machines()) {
        for (const beside of other.live()) {
          if (beside.order.network?.vni !== network.vni || domainOf(beside) === domainOf(process)) continue;
          if (!fabric.has(network.vni, other.name) || isGivenUp(beside, other)) continue;
          world.violated("S9", `${what} (${domainOf(process)}) shares VNI ${network.vni} with ${beside.key}`);
        }
      }
    },
    left(view) {
      const left = Array.from(view.domains(), ({ key, vni }) => `domain ${key} holds VNI ${vni}`);
      for (const vni of fabric.vnis()) left.push(`the fabric manager knows VNI ${vni}`);
      if (exhausted) left.push("the pool of network numbers counts as used up");
      return left;
    },
  };
}
