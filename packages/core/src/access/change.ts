// Gives a user a role in a tenant, and takes it away again. Asking for what is so already changes nothing.

import type { AddGrantCommand, RemoveGrantCommand } from "../command.ts";
import { parseUserName } from "../ids.ts";
import type { Outcome } from "../outcome.ts";
import { accepted, quote, refuse, refuseFields, type Step, unchanged } from "../step.ts";
import { GRANT_ROLES, grantKey, isGrantRole, MAX_GRANTS } from "./grant.ts";

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

export function removeGrant(step: Step, command: RemoveGrantCommand): Outcome {
  const { tenant, user, role } = command;
  const known = step.state.tables.grants.get(grantKey(command));
  if (known === undefined)
    return refuse("unknown_grant", `${quote(user)} does not have the role ${quote(role)} in ${quote(tenant)}`);

  step.state.removeGrant(known);
  step.events.push({ kind: "tenant_changed", tenant, to: "revoked", reason: role, user });
  return accepted(grantKey(command));
}
