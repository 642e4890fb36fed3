// Who may speak to the services that work exposes, through the server: those of the tenant whose service it is, and
// administrators. Whoever may only look may not: what a request does is known to the service alone.

import type { Principal, Role } from "../auth/principal.ts";
import type { Reach } from "./rules.ts";
import { narrowing } from "./scopes.ts";

export const PROXY_REACH: Readonly<Record<Role, Reach>> = {
  SystemAdmin: "all",
  TenantAdmin: "tenant",
  Operator: "tenant",
  ClaimingUser: "tenant",
  ReadOnly: "none",
  User: "tenant",
};

export function mayProxy(principal: Principal, owner: string): boolean {
  // A token that was made to do less was not made for this.
  if (narrowing(principal).length > 0) return false;
  const { roles, tenant, grants = [] } = principal;
  if (grants.some((grant) => grant.tenant === owner && PROXY_REACH[grant.role] === "tenant")) return true;
  const reaches = roles.map((role) => PROXY_REACH[role]);
  return reaches.includes("all") || (reaches.includes("tenant") && tenant === owner);
}
