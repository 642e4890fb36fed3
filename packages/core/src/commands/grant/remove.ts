// grant.remove: takes a role in a tenant from a user.

import type { TenantId, UserName } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse } from "../../base/outcome.ts";
import type { GrantRole } from "../../model/access/grant.ts";
import { grantKey } from "../../model/access/grant.ts";
import type { Origin } from "../../model/origin.ts";
import type { Step } from "../../transitions/step.ts";

export interface RemoveGrantCommand {
  readonly kind: "grant.remove";
  readonly origin: Origin;
  readonly tenant: TenantId;
  readonly user: UserName;
  readonly role: GrantRole;
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
