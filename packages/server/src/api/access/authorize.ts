// One question, asked once per RPC: may this principal do this to that? Lists ask `reaches` for
// each record instead, so that they show only what the caller may see.

import type { TenantId, UserName } from "@lattice/core";
import { ProblemError } from "@lattice/wire";
import type { Principal } from "../auth/principal.ts";
import { type Reach, RULES, type Rule, type RuleName } from "./rules.ts";
import { narrowing, permitted } from "./scopes.ts";

/** Whose the thing is. Null: nobody's in particular, which only `all` reaches. */
export interface Target {
  readonly tenant: TenantId | null;
  readonly user: UserName | null;
}

export const NOBODYS: Target = { tenant: null, user: null };

/** Throws ProblemError `forbidden`. */
export function authorize(principal: Principal, rpc: RuleName, target: Target): void {
  if (!reaches(principal, rpc, target)) throw forbidden(principal, rpc, target);
}

/** For lists and streams: whether the call makes sense at all; what it shows is filtered by `reaches`. */
export function authorizeList(principal: Principal, rpc: RuleName): void {
  const { reach } = RULES[rpc];
  const granted = (principal.grants ?? []).some(({ role }) => reach[role] !== "none");
  if (reachOf(principal, rpc) === "none" && !granted) throw forbidden(principal, rpc);
}

export function reaches(principal: Principal, rpc: RuleName, target: Target): boolean {
  const { user, tenant, grants } = principal;
  if (within(reachOf(principal, rpc), { user, tenant }, target)) return true;
  if (grants === undefined) return false;
  return grants.some((grant) => within(RULES[rpc].reach[grant.role], { user, tenant: grant.tenant }, target));
}

/** The same question about many: what does not depend on the target is looked up once. */
export function reacher(principal: Principal, rpc: RuleName): (target: Target) => boolean {
  const { user, tenant, grants = [] } = principal;
  const own = reachOf(principal, rpc);
  if (own === "all") return () => true;
  const reached = grants.map((grant) => ({ reach: RULES[rpc].reach[grant.role], tenant: grant.tenant }));
  return (target) =>
    within(own, { user, tenant }, target) ||
    reached.some((grant) => within(grant.reach, { user, tenant: grant.tenant }, target));
}

/** Whether nothing within reach can be anybody's but the caller's: a list then looks at that alone. */
export function reachesOwnAlone(principal: Principal, rpc: RuleName): boolean {
  const { reach } = RULES[rpc];
  const reaches = [reachOf(principal, rpc), ...(principal.grants ?? []).map(({ role }) => reach[role])];
  return reaches.every((one) => WIDTH[one] <= WIDTH.mine);
}

const WIDTH = { none: 0, own: 1, mine: 2, tenant: 3, all: 4 } as const satisfies Record<Reach, number>;

/** By the roles of the token alone. */
export function reachOf(principal: Principal, rpc: RuleName): Reach {
  const rule: Rule = RULES[rpc];
  let widest: Reach = "none";
  for (const role of principal.roles) if (WIDTH[rule.reach[role]] > WIDTH[widest]) widest = rule.reach[role];
  return widest !== "none" && permitted(principal, rule) ? widest : "none";
}

function within(reach: Reach, { tenant, user }: Target, target: Target): boolean {
  if (reach === "all") return true;
  if (reach === "mine") return target.user === user;
  if (reach === "none" || tenant === null || target.tenant !== tenant) return false;
  return reach === "tenant" || target.user === user;
}

function forbidden(principal: Principal, rpc: RuleName, target: Target = NOBODYS): ProblemError {
  const scopes = narrowing(principal);
  const power =
    scopes.length > 0
      ? `a token for ${scopes.join(", ")} alone`
      : `the role ${[...principal.roles, ...(principal.grants ?? []).map(({ role, tenant }) => `${role} of ${tenant}`)].join(", ") || "none"}`;
  const detail = `${principal.user} may not call ${rpc} here with ${power}.`;
  const hint = scopes.length > 0 ? null : hintAbout(principal, rpc, target);
  return new ProblemError("forbidden", hint === null ? { detail } : { detail, hint });
}

/** Null: a role is all that is missing, and a tenant's administrators can give it. */
function hintAbout({ user, tenant }: Principal, rpc: RuleName, target: Target): string | null {
  if (isClusters(RULES[rpc])) return "Ask an administrator of the cluster: a tenant's may not do this either.";
  if (target.tenant === null) return null;
  if (target.tenant !== tenant) return "It belongs to another tenant: ask its administrators, or those of the cluster.";
  return target.user === user ? null : "It belongs to another user: ask them, or an administrator of your tenant.";
}

const isClusters = ({ reach }: Rule): boolean => reach.TenantAdmin === "none" && reach.ClaimingUser === "none";
