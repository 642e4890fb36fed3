// Adds to a principal the roles that the state grants it. Tokens that were made to do less (read-only ones, those
// of jobs and of agents, those with narrow scopes) are unchanged: their issuer relies on that. A job's is
// good while the job is.

import type { GrantRole, View } from "@lattice/core";
import type { Principal, Role } from "../../base/auth/principal.ts";
import { checkJobAlive } from "./job-alive.ts";
import { narrowing } from "./scopes.ts";

const ROLE_OF: Readonly<Record<GrantRole, Role>> = { tenant_admin: "TenantAdmin", claiming_user: "ClaimingUser" };

const LESSER = /^(?:readonly$|job:|agent)/;

/** Throws ProblemError `unauthenticated` for the token of a job that has ended. */
export function withGrants(principal: Principal, view: View): Principal {
  checkJobAlive(principal, view);
  const grants = view.grantsOf(principal.user);
  if (grants.length === 0 || isLesser(principal)) return principal;
  return { ...principal, grants: grants.map(({ tenant, role }) => ({ tenant, role: ROLE_OF[role] })) };
}

const isLesser = (principal: Principal): boolean =>
  principal.scopes.some((scope) => LESSER.test(scope)) || narrowing(principal).length > 0;

/** Whether two looks at the same caller found the same power. */
export const samePower = (a: Principal, b: Principal): boolean =>
  JSON.stringify([a.user, a.tenant, a.roles, a.scopes, a.grants ?? []]) ===
  JSON.stringify([b.user, b.tenant, b.roles, b.scopes, b.grants ?? []]);
