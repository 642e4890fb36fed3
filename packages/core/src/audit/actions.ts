// Which commands are of interest to whoever asks later who did what, and what is written down about each. What
// users do with their own work is not: it is in the history. A command that is not here leaves no record.

import type { Command, CommandKind } from "../command.ts";
import type { AllocationId, TenantId, UserName } from "../ids.ts";
import { quote } from "../step.ts";
import type { Deed } from "./deed.ts";

/** What the state knows about the thing, as far as a deed depends on it. */
export interface Circumstances {
  ownerOf(allocation: AllocationId): { readonly user: UserName; readonly tenant: TenantId } | null;
}

type Describe<K extends CommandKind> = (
  command: Extract<Command, { readonly kind: K }>,
  about: Circumstances,
) => Deed | null;

export const DEEDS: { readonly [K in CommandKind]?: Describe<K> } = {
  "grant.add": ({ tenant, user, role }) => ({ scope: "access", tenant, detail: `${role} to ${quote(user)}` }),
  "grant.remove": ({ tenant, user, role }) => ({ scope: "access", tenant, detail: `${role} from ${quote(user)}` }),
  "secret.rotate": ({ name, keep }) => ({
    scope: "access",
    detail: `the key of ${name}; the one before counts for ${keep / 1_000} s`,
  }),
  "tenant.create": ({ tenant }) => ({ scope: "tenants", tenant, detail: "made" }),
  "tenant.update": ({ tenant, change }) => ({ scope: "tenants", tenant, detail: Object.keys(change).join(", ") }),
  "tenant.delete": ({ tenant }) => ({ scope: "tenants", tenant, detail: "removed" }),
  "vcluster.delete": ({ vcluster }) => ({ scope: "tenants", detail: vcluster }),
  "config.set": ({ key, value }) => ({ scope: "cluster", detail: `${key} ${value === null ? "unset" : quote(value)}` }),
  "vcluster.create": ({ vcluster, tenant }) => ({ scope: "tenants", ...ofTenant(tenant), detail: vcluster }),
  "vcluster.update": ({ vcluster, change }) => ({
    scope: "tenants",
    detail: `${vcluster}: ${Object.keys(change).join(", ")}`,
  }),
  "node.drain": ({ node, reason }) => ({ scope: "nodes", node, detail: quote(reason) }),
  "node.undrain": ({ node }) => ({ scope: "nodes", node, detail: "" }),
  "node.disable": ({ node, reason }) => ({ scope: "nodes", node, detail: quote(reason) }),
  "node.enable": ({ node }) => ({ scope: "nodes", node, detail: "" }),
  "node.assign": ({ node, vcluster }) => ({ scope: "nodes", node, detail: vcluster ?? "to all" }),
  "session.open": ({ allocation }, about) => ({
    scope: "work",
    allocation,
    ...ofTenant(about.ownerOf(allocation)?.tenant ?? null),
    detail: "",
  }),
  "allocation.cancel": ({ id, origin, reason }, about) => onOthersWork(id, origin.user, quote(reason), about),
  "allocation.hold": ({ id, origin, held }, about) => onOthersWork(id, origin.user, held ? "hold" : "release", about),
  "allocation.update": ({ id, origin, change }, about) =>
    onOthersWork(id, origin.user, Object.keys(change).join(", "), about),
  "cluster.restore_begin": ({ restore }) => ({ scope: "cluster", detail: quote(restore) }),
  "audit.record": ({ deed }) => deed,
};

/** Only what is done to somebody else's. */
function onOthersWork(allocation: AllocationId, user: UserName, detail: string, about: Circumstances): Deed | null {
  const owner = about.ownerOf(allocation);
  if (owner === null || owner.user === user) return null;
  return { scope: "work", allocation, tenant: owner.tenant, detail };
}

const ofTenant = (tenant: TenantId | null) => (tenant === null ? {} : { tenant });
