// Which domain an allocation belongs to, and whether it could have it now. Asked at submission, when it is placed, and by whoever
// explains why it waits.

import type { Allocation } from "../allocation/allocation.ts";
import type { AllocationSpec } from "../allocation/spec.ts";
import type { TenantId } from "../ids.ts";
import type { Refusal } from "../outcome.ts";
import type { View } from "../state/view.ts";
import { isSensitive } from "../vcluster/sensitive.ts";
import { domainKey, poolSize } from "./domain.ts";

export interface WantedDomain {
  readonly key: string;
  readonly tenant: TenantId;
  readonly name: string;
  readonly private: boolean;
  readonly sensitive?: true;
}

/** Of one that is placed on so many nodes, or is to be. Null: it needs none. */
export function wantedDomain(
  view: Pick<View, "network" | "vcluster">,
  { id, spec, user }: Pick<Allocation, "id" | "spec" | "user">,
  placed: number,
): WantedDomain | null {
  const { tenant, networkDomain, expose } = spec;
  // Shared with nobody, not even within the tenant.
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

/** Null: it is there, or can be made. */
export function whyNoDomain(
  view: Pick<View, "network" | "domain" | "domains" | "tenant">,
  wanted: WantedDomain,
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

/** The lowest that is free; null: none is. */
export function freeVni(view: Pick<View, "network" | "domains">): number | null {
  const used = new Set(Array.from(view.domains(), ({ vni }) => vni));
  const { vniStart, vniEnd } = view.network;
  for (let vni = vniStart; vni <= vniEnd; vni += 1) if (!used.has(vni)) return vni;
  return null;
}

/** Of a submission, which has no id yet: private domains are not asked for. */
export function namedDomain({ tenant, networkDomain }: AllocationSpec): WantedDomain | null {
  if (networkDomain === undefined) return null;
  return { key: domainKey(tenant, networkDomain), tenant, name: networkDomain, private: false };
}

/** Null: it may name one, or names none. */
export function whyNotByName(view: Pick<View, "vcluster">, { networkDomain, vcluster }: AllocationSpec): string | null {
  if (networkDomain === undefined || !isSensitive(view, vcluster)) return null;
  return "is not for sensitive work, which has a network of its own";
}
