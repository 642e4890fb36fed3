// Authorization: whether a principal may call an RPC on a target. Handlers call `authorize` once; lists filter their
// records with `reaches`.

import type { TenantId, UserName } from "@lattice/core";
import { ProblemError } from "@lattice/wire";
import { ANY_SERVER_SCOPE, type Principal, SERVER_SCOPE } from "../../base/auth/principal.ts";
import { type Reach, type Row, RULES, type Rule, type RuleName } from "./rules.ts";
import { narrowing, permitted } from "./scopes.ts";

/** The owner of the object. `null` when it has none; only `all` reaches such an object. */
export interface Target {
  readonly tenant: TenantId | null;
  readonly user: UserName | null;
  /** Whether this is work of a sensitive vCluster. Default: false. */
  readonly sensitive?: boolean;
  /** The server that the call is about. Default: none. */
  readonly server?: string;
}

export const UNOWNED: Target = { tenant: null, user: null };

/** Throws ProblemError `forbidden`. */
export function authorize(principal: Principal, rpc: RuleName, target: Target): void {
  if (!reaches(principal, rpc, target) && !isAboutItself(principal, rpc, target))
    throw forbidden(principal, rpc, target);
}

/** Whether a server calls for itself what servers may. */
function isAboutItself({ user, scopes }: Principal, rpc: RuleName, { server }: Target): boolean {
  if (!acceptsServers(rpc) || server === undefined) return false;
  return scopes.includes(ANY_SERVER_SCOPE) || (scopes.includes(SERVER_SCOPE) && user === server);
}

/** Whether a certificate of a server is accepted for this call. */
export function acceptsServers(rpc: RuleName): boolean {
  const rule: Rule = RULES[rpc];
  return rule.servers === true;
}

/** Authorizes a list or a stream, whose records are then filtered by `reaches`. Throws ProblemError `forbidden`. */
export function authorizeList(principal: Principal, rpc: RuleName): void {
  const { reach } = RULES[rpc];
  const granted = (principal.grants ?? []).some(({ role }) => reach[role] !== "none");
  if (reachOf(principal, rpc) === "none" && !granted) throw forbidden(principal, rpc);
}

export const reaches = (principal: Principal, rpc: RuleName, target: Target): boolean =>
  reacher(principal, rpc)(target);

/** Returns `reaches` for many targets: the lookups that do not depend on the target happen once. */
export function reacher(principal: Principal, rpc: RuleName): (target: Target) => boolean {
  const reachesPlain = reacherBy(principal, rpc, false);
  if (rowOf(rpc, true) === rowOf(rpc, false)) return reachesPlain;
  const reachesSensitive = reacherBy(principal, rpc, true);
  return (target) => (target.sensitive === true ? reachesSensitive(target) : reachesPlain(target));
}

function reacherBy(principal: Principal, rpc: RuleName, sensitive: boolean): (target: Target) => boolean {
  const { user, tenant, grants } = principal;
  const own = reachOf(principal, rpc, sensitive);
  if (own === "all") return () => true;
  if (grants === undefined) return (target) => within(own, { user, tenant }, target);
  const row = rowOf(rpc, sensitive);
  const reached = grants.map((grant) => ({ reach: row[grant.role], tenant: grant.tenant }));
  return (target) =>
    within(own, { user, tenant }, target) ||
    reached.some((grant) => within(grant.reach, { user, tenant: grant.tenant }, target));
}

function rowOf(rpc: RuleName, sensitive: boolean): Row {
  const rule: Rule = RULES[rpc];
  return sensitive ? (rule.sensitive ?? rule.reach) : rule.reach;
}

/** Whether the caller reaches only its own work; a list then searches only that. */
export function reachesOnlyOwn(principal: Principal, rpc: RuleName): boolean {
  const { reach } = RULES[rpc];
  const reaches = [reachOf(principal, rpc), ...(principal.grants ?? []).map(({ role }) => reach[role])];
  return reaches.every((one) => WIDTH[one] <= WIDTH.mine);
}

const WIDTH = { none: 0, own: 1, mine: 2, tenant: 3, all: 4 } as const satisfies Record<Reach, number>;

/** Uses the roles of the token only, not the grants. */
export function reachOf(principal: Principal, rpc: RuleName, sensitive = false): Reach {
  const row = rowOf(rpc, sensitive);
  let widest: Reach = "none";
  for (const role of principal.roles) if (WIDTH[row[role]] > WIDTH[widest]) widest = row[role];
  return widest !== "none" && permitted(principal, RULES[rpc]) ? widest : "none";
}

function within(reach: Reach, { tenant, user }: Target, target: Target): boolean {
  if (reach === "all") return true;
  if (reach === "mine") return target.user === user;
  if (reach === "none" || tenant === null || target.tenant !== tenant) return false;
  return reach === "tenant" || target.user === user;
}

function forbidden(principal: Principal, rpc: RuleName, target: Target = UNOWNED): ProblemError {
  if (principal.scopes.includes(SERVER_SCOPE)) return notItself(principal, rpc, target);
  const scopes = narrowing(principal);
  const power =
    scopes.length > 0
      ? `a token limited to ${scopes.join(", ")}`
      : `the role ${[...principal.roles, ...(principal.grants ?? []).map(({ role, tenant }) => `${role} of ${tenant}`)].join(", ") || "none"}`;
  const detail = `${principal.user} may not call ${rpc} here with ${power}.`;
  const hint = scopes.length > 0 ? null : hintAbout(principal, rpc, target);
  return new ProblemError("forbidden", hint === null ? { detail } : { detail, hint });
}

const notItself = ({ user }: Principal, rpc: RuleName, { server }: Target): ProblemError =>
  new ProblemError("forbidden", {
    detail: `The token or certificate of the server ${user} does not permit ${rpc}${server === undefined ? "" : ` for ${server}`}.`,
    hint: "It lets a server of that id join the cluster, and nothing else.",
  });

/** Returns `null` when only a role is missing, which an administrator of the tenant can grant. */
function hintAbout({ user, tenant }: Principal, rpc: RuleName, target: Target): string | null {
  const rule: Rule = RULES[rpc];
  if (target.sensitive === true && rule.sensitive !== undefined) return sensitiveHint(rule.sensitive);
  if (isClusterOnly(rule)) return "Ask an administrator of the cluster; administrators of a tenant may not do this.";
  if (target.tenant === null) return null;
  if (target.tenant !== tenant)
    return "It belongs to another tenant: ask an administrator of that tenant or of the cluster.";
  return target.user === user ? null : "It belongs to another user: ask that user or an administrator of your tenant.";
}

const sensitiveHint = ({ TenantAdmin }: Row): string =>
  TenantAdmin === "tenant"
    ? "It is sensitive work: only its owner and the administrators of its tenant may read its content."
    : "It is sensitive work, which only the user who submitted it may access; administrators may not.";

const isClusterOnly = ({ reach }: Rule): boolean => reach.TenantAdmin === "none" && reach.ClaimingUser === "none";
