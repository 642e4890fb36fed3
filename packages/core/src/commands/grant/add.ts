// grant.add: gives a user a role in a tenant.

import type { TenantId, UserName } from "../../base/ids.ts";
import { parseUserName } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse, refuseFields, unchanged } from "../../base/outcome.ts";
import type { GrantRole } from "../../model/access/grant.ts";
import { GRANT_ROLES, grantKey, isGrantRole, MAX_GRANTS } from "../../model/access/grant.ts";
import type { Origin } from "../../model/origin.ts";
import type { Step } from "../../transitions/step.ts";

/** Gives a user a role in a tenant. */
export interface AddGrantCommand {
  readonly kind: "grant.add";
  readonly origin: Origin;
  readonly tenant: TenantId;
  readonly user: UserName;
  readonly role: GrantRole;
}

export function addGrant(step: Step, command: AddGrantCommand): Outcome {
  const { tenant, user, role, origin } = command;
  const { grants } = step.state.tables;
  if (parseUserName(user) === null) return refuseFields([{ field: "user", detail: "is not a user name" }]);
  if (!isGrantRole(role)) return refuseFields([{ field: "role", detail: `must be one of ${GRANT_ROLES.join(", ")}` }]);
  if (step.state.tenant(tenant) === undefined) return refuse("unknown_tenant", `there is no tenant ${quote(tenant)}`);
  const key = grantKey(command);
  if (grants.has(key)) return unchanged(key);
  if (grants.size >= MAX_GRANTS) {
    const figures = { current: grants.size, requested: 1, limit: MAX_GRANTS };
    return refuse("quota_exceeded", `there are ${MAX_GRANTS} grants already`, figures);
  }

  step.state.putGrant({ tenant, user, role, by: origin.user, at: step.at });
  step.events.push({ kind: "tenant_changed", tenant, to: "granted", reason: role, user });
  return accepted(key);
}
