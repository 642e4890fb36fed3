// The principal of a verified token: user, tenant, roles. Scopes, including narrowing ones, take precedence over the
// role claims of other systems; a token with neither has the role User. Pure: the signature was checked before.

import { parseTenantId, parseUserName } from "@lattice/core";
import { ANY_SERVER_SCOPE, type Principal, type Role, SERVER_SCOPE } from "./principal.ts";

/** Returns whether a scope restricts a role; an unknown scope with this prefix permits nothing. */
export const isNarrowing = (scope: string): boolean => scope.startsWith("allocations:");

export type Claims = Readonly<Record<string, unknown>>;

interface ClaimRules {
  readonly tenantClaim: string;
  /** The tenant of tokens without the claim; with `null` such callers reach nothing that belongs to a tenant. */
  readonly defaultTenant: string | null;
}

type ClaimsResult =
  | { readonly kind: "principal"; readonly principal: Principal }
  | { readonly kind: "unusable"; readonly detail: string };

/** A token has all roles whose scope it has. */
const SCOPE_ROLES: readonly (readonly [scope: string, role: Role])[] = [
  ["admin", "SystemAdmin"],
  ["system:admin", "SystemAdmin"],
  ["tenant:admin", "TenantAdmin"],
  ["operator", "Operator"],
  ["sensitive:claim", "ClaimingUser"],
  ["readonly", "ReadOnly"],
];

const ROLELESS: readonly string[] = ["agent", "agent:any", SERVER_SCOPE, ANY_SERVER_SCOPE];

const CLAIM_ROLES: Readonly<Record<string, Role>> = {
  "pact-platform-admin": "SystemAdmin",
  "system-admin": "SystemAdmin",
  "tenant-admin": "TenantAdmin",
  operator: "Operator",
};

export function principalOf(claims: Claims, rules: ClaimRules): ClaimsResult {
  const name = text(claims.preferred_username) ?? text(claims.sub);
  const user = name === null ? null : parseUserName(name);
  if (user === null) return unusable("has no user: neither preferred_username nor sub is a user name");
  const tenantText = text(claims[rules.tenantClaim]) ?? rules.defaultTenant;
  const tenant = tenantText === null ? null : parseTenantId(tenantText);
  if (tenantText !== null && tenant === null) return unusable(`has an invalid tenant name: ${tenantText}`);
  const scopes = scopesOf(claims);
  return { kind: "principal", principal: { user, tenant, roles: rolesOf(claims, scopes), scopes } };
}

function rolesOf(claims: Claims, scopes: readonly string[]): readonly Role[] {
  const byScope = SCOPE_ROLES.filter(([scope]) => scopes.includes(scope)).map(([, role]) => role);
  if (byScope.length > 0) return [...new Set(byScope)];
  if (scopes.some(isNarrowing)) return ["User"];
  for (const claim of [claims.pact_role, claims.lattice_role]) {
    const role = typeof claim === "string" && Object.hasOwn(CLAIM_ROLES, claim) ? CLAIM_ROLES[claim] : undefined;
    if (role !== undefined) return [role];
  }
  // Agents have their own service; an agent token has no role in the API. A new server may only add itself.
  return scopes.some((scope) => ROLELESS.includes(scope)) ? [] : ["User"];
}

/** OAuth has one string; some providers have a list under `scp`. */
function scopesOf(claims: Claims): readonly string[] {
  const { scope, scp } = claims;
  if (typeof scope === "string") return scope.split(" ").filter((word) => word !== "");
  if (Array.isArray(scp)) return scp.filter((word) => typeof word === "string");
  return typeof scp === "string" ? scp.split(" ").filter((word) => word !== "") : [];
}

const text = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);
const unusable = (detail: string): ClaimsResult => ({ kind: "unusable", detail });
