// Who may speak to the services that work exposes, through the server: those of the tenant whose service it is, and
// administrators. Whoever may only look may not: what a request does is known to the service alone.

import type { Principal, Role } from "../auth/principal.ts";
import type { Reach } from "./rules.ts";

export const PROXY_REACH: Readonly<Record<Role, Reach>> = {
  SystemAdmin: "all",
  TenantAdmin: "tenant",
  Operator: "tenant",
  ClaimingUser: "tenant",
  ReadOnly: "none",
  User: "tenant",
};

export function mayProxy({ roles, tenant }: Principal, owner: string): boolean {
  const reaches = roles.map((role) => PROXY_REACH[role]);
  return reaches.includes("all") || (reaches.includes("tenant") && tenant === owner);
}
