// One question, asked once per RPC: may this principal do this to that? Lists ask `reaches` for
// each record instead, so that they show only what the caller may see.

import type { TenantId, UserName } from "@lattice/core";
import { ProblemError } from "@lattice/wire";
import type { Principal } from "../auth/principal.ts";
import type { RpcName } from "../rpc.ts";
import { type Reach, RULES } from "./rules.ts";

/** Whose the thing is. Null: nobody's in particular, which only `all` reaches. */
export interface Target {
  readonly tenant: TenantId | null;
  readonly user: UserName | null;
}

export const NOBODYS: Target = { tenant: null, user: null };

/** Throws ProblemError `forbidden`. */
export function authorize(principal: Principal, rpc: RpcName, target: Target): void {
  if (reaches(principal, rpc, target)) return;
  const detail = `${principal.user} may not call ${rpc} here with the role ${principal.roles.join(", ") || "none"}.`;
  throw new ProblemError("forbidden", { detail });
}

/** For lists and streams: whether the call makes sense at all; what it shows is filtered by `reaches`. */
export function authorizeList(principal: Principal, rpc: RpcName): void {
  if (reachOf(principal, rpc) !== "none") return;
  const detail = `${principal.user} may not call ${rpc} with the role ${principal.roles.join(", ") || "none"}.`;
  throw new ProblemError("forbidden", { detail });
}

export function reaches(principal: Principal, rpc: RpcName, target: Target): boolean {
  const reach = reachOf(principal, rpc);
  if (reach === "all") return true;
  if (reach === "none") return false;
  const sameTenant = principal.tenant !== null && target.tenant === principal.tenant;
  return reach === "tenant" ? sameTenant : sameTenant && target.user === principal.user;
}

const WIDTH = { none: 0, own: 1, tenant: 2, all: 3 } as const satisfies Record<Reach, number>;

export function reachOf(principal: Principal, rpc: RpcName): Reach {
  let widest: Reach = "none";
  for (const role of principal.roles) if (WIDTH[RULES[rpc][role]] > WIDTH[widest]) widest = RULES[rpc][role];
  return widest;
}
