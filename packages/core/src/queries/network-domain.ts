// Which domain an allocation belongs to, and whether it could have it now. Used at submission, at placement, and to
// explain why an allocation waits.

import type { NodeId, TenantId } from "../base/ids.ts";
import type { Refusal } from "../base/outcome.ts";
import type { Allocation } from "../model/allocation/allocation.ts";
import { domainKey, poolSize } from "../model/network/domain.ts";
import type { AllocationSpec } from "../model/spec/spec.ts";
import type { View } from "../state/view.ts";
import { isSensitive } from "./sensitive.ts";

interface DomainRequest {
  readonly key: string;
  readonly tenant: TenantId;
  readonly name: string;
  readonly private: boolean;
  readonly sensitive?: true;
}

/** Returns the domain of an allocation on `placed` nodes, or `null` when it needs none. */
export function domainRequestOf(
  view: Pick<View, "network" | "vcluster">,
  { id, spec, user }: Pick<Allocation, "id" | "spec" | "user">,
  placed: number,
): DomainRequest | null {
  const { tenant, networkDomain, expose } = spec;
  // Sensitive work shares its network with no other allocation, not even of its tenant.
  if (isSensitive(view, spec.vcluster)) {
    const name = `sensitive-${user}-${id}`;
    return { key: domainKey(tenant, name), tenant, name, private: true, sensitive: true };
  }
  if (networkDomain !== undefined) {
    return { key: domainKey(tenant, networkDomain), tenant, name: networkDomain, private: false };
  }
  const several = placed > 1 || (spec.lifecycle.scale?.maxNodes ?? 1) > 1;
  if (!view.network.autoDomains || !(several || expose !== undefined)) return null;
  const name = `alloc-${id}`;
  return { key: domainKey(tenant, name), tenant, name, private: true };
}

/** Returns `null` when the domain exists or can be created. */
export function domainRefusal(
  view: Pick<View, "network" | "domain" | "domains" | "tenant">,
  wanted: DomainRequest,
): Refusal | null {
  if (view.domain(wanted.key) !== undefined) return null;
  const all = [...view.domains()];
  const size = poolSize(view.network);
  if (freeVni(view) === null) {
    const detail = `cannot create network domain "${wanted.name}": VNI pool exhausted (${all.length}/${size} in use)`;
    return { code: "quota_exceeded", detail, figures: { limit: size, current: all.length, requested: 1 } };
  }
  const most = view.tenant(wanted.tenant)?.quota.maxNetworkDomains ?? view.network.maxDomainsPerTenant;
  const own = all.filter((domain) => domain.tenant === wanted.tenant && !domain.private).length;
  if (wanted.private || own < most) return null;
  const detail = `tenant "${wanted.tenant}" would exceed its network domains (limit ${most}, in use ${own})`;
  return { code: "quota_exceeded", detail, figures: { limit: most, current: own, requested: 1 } };
}

/** Returns the lowest free number; `null` when none is free. */
export function freeVni(view: Pick<View, "network" | "domains">): number | null {
  const used = new Set(Array.from(view.domains(), ({ vni }) => vni));
  const { vniStart, vniEnd } = view.network;
  for (let vni = vniStart; vni <= vniEnd; vni += 1) if (!used.has(vni)) return vni;
  return null;
}

/** For a submission, which has no id yet: private domains are not checked. */
export function namedDomainRequest({ tenant, networkDomain }: AllocationSpec): DomainRequest | null {
  if (networkDomain === undefined) return null;
  return { key: domainKey(tenant, networkDomain), tenant, name: networkDomain, private: false };
}

/** Returns `null` when the spec names no domain, or may name one. */
export function namedDomainProblem(
  view: Pick<View, "vcluster">,
  { networkDomain, vcluster }: AllocationSpec,
): string | null {
  if (networkDomain === undefined || !isSensitive(view, vcluster)) return null;
  return "is not for sensitive work, which has its own network";
}

/** Returns whether the fabric is ready for this allocation on this node; always where no manager is configured. */
export function mayUseFabric(
  view: Pick<View, "network" | "domain">,
  { spec, network }: Pick<Allocation, "spec" | "network">,
  node: NodeId,
): boolean {
  if (network === undefined || view.network.managed !== true) return true;
  return view.domain(domainKey(spec.tenant, network.domain))?.fabric?.nodes.includes(node) === true;
}
