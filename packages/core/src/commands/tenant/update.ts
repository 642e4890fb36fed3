// tenant.update: changes the limits of a tenant. A lower limit keeps new work from starting and never takes nodes from
// running work. A limit set to null is removed. The tenant's own administrators change limits below a ceiling.

import { canonical } from "../../base/canonical.ts";
import type { TenantId } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse, refuseFields, rejected, unchanged } from "../../base/outcome.ts";
import { problemList } from "../../model/checks.ts";
import type { Origin } from "../../model/origin.ts";
import type { TenantChange } from "../../model/tenant/ceiling.ts";
import { changedFromAbove, changedWithin, whyNotWithin } from "../../model/tenant/ceiling.ts";
import { checkTenant } from "../../model/tenant/check.ts";
import type { Step } from "../../transitions/step.ts";

export interface UpdateTenantCommand {
  readonly kind: "tenant.update";
  readonly origin: Origin;
  readonly tenant: TenantId;
  readonly change: TenantChange;
  /** Set for the tenant's own administrators, who stay below the ceiling that cluster administrators have set. */
  readonly within?: true;
}

export function updateTenant(step: Step, command: UpdateTenantCommand): Outcome {
  const known = step.state.tenant(command.tenant);
  if (known === undefined) return refuse("unknown_tenant", `there is no tenant ${quote(command.tenant)}`);
  const { change, within } = command;
  const barred = within === true ? whyNotWithin(known, change, step.state.network.maxDomainsPerTenant) : null;
  if (barred !== null) return rejected(barred);
  const tenant = within === true ? changedWithin(known, change) : changedFromAbove(known, change);
  const problems = problemList();
  checkTenant(problems, tenant);
  if (problems.list.length > 0) return refuseFields(problems.list);
  if (canonical(tenant) === canonical(known)) return unchanged(known.id);

  step.state.tables.tenants.set(tenant.id, tenant);
  step.events.push({ kind: "tenant_changed", tenant: tenant.id, to: "updated", user: command.origin.user });
  return accepted(tenant.id);
}
