// Adds to a principal the roles that the state grants it. Restricted tokens (read-only, of jobs, of agents, with narrow
// scopes) get no grants: their issuer relies on that. The token of a job is valid until the job ends.

import type { GrantRole, View } from "@lattice/core";
import type { Principal, Role } from "../../base/auth/principal.ts";
import { checkJobAlive } from "./job-alive.ts";
import { narrowing } from "./scopes.ts";

const ROLE_OF: Readonly<Record<GrantRole, Role>> = { tenant_admin: "TenantAdmin", claiming_user: "ClaimingUser" };

const RESTRICTED_SCOPE = /^(?:readonly$|job:|agent|member)/;

/** Throws ProblemError `unauthenticated` for the token of a job that has ended. */
export function withGrants(principal: Principal, view: View): Principal {
  checkJobAlive(principal, view);
  const grants = view.grantsOf(principal.user);
  if (grants.length === 0 || isRestricted(principal)) return principal;
  return { ...principal, grants: grants.map(({ tenant, role }) => ({ tenant, role: ROLE_OF[role] })) };
}

const isRestricted = (principal: Principal): boolean =>
  principal.scopes.some((scope) => RESTRICTED_SCOPE.test(scope)) || narrowing(principal).length > 0;

/** Whether two authentications of the same caller gave the same rights. */
export const samePower = (a: Principal, b: Principal): boolean =>
  JSON.stringify([a.user, a.tenant, a.roles, a.scopes, a.grants ?? []]) ===
  JSON.stringify([b.user, b.tenant, b.roles, b.scopes, b.grants ?? []]);
