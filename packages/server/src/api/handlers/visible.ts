// The visible parts of other users' work. Its existence is public. Members of the same tenant, who share its
// limits, see its id; only callers who may see the work see its owner and name.

import type { Allocation, AllocationId, TenantId } from "@lattice/core";
import { reaches, reachesOnlyOwn } from "../access/authorize.ts";
import type { RuleName } from "../access/rules.ts";
import type { Call } from "../call/call.ts";
import { ownerOf } from "./work.ts";

export interface Shown {
  readonly allocationId: string;
  readonly tenant: string;
  readonly user: string;
}

const HIDDEN: Shown = { allocationId: "", tenant: "", user: "" };

export function shownTo(call: Call, id: AllocationId | null): Shown {
  const record = id === null ? undefined : call.plane.view().allocation(id);
  if (record === undefined || !isOfTenant(call, record.spec.tenant)) return HIDDEN;
  const user = isKnown(call, record) ? record.user : "";
  return { allocationId: record.id, tenant: record.spec.tenant, user };
}

export const isKnown = ({ principal }: Call, record: Allocation): boolean =>
  reaches(principal, "AllocationService.Get", ownerOf(record));

/** Whether the caller is a member or an administrator of the tenant. */
export const isOfTenant = ({ principal }: Call, tenant: TenantId): boolean =>
  reaches(principal, "AdminService.GetTenant", { tenant, user: null });

/** The user of a list query; always the caller for roles that see only their own work. */
export function userToList({ principal }: Call, rpc: RuleName, user: string): string | null {
  if (!reachesOnlyOwn(principal, rpc)) return user;
  return user === "" || user === principal.user ? principal.user : null;
}
