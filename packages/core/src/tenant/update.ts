// Limits change from here on: lowering one keeps further work from starting, and never takes
// nodes away from work that has them. A limit set to null is removed. A tenant's own administrators move them under a ceiling.

import { problemList } from "../allocation/check-values.ts";
import { canonical } from "../canonical.ts";
import type { UpdateTenantCommand } from "../command.ts";
import type { Outcome } from "../outcome.ts";
import { accepted, quote, refuse, refuseFields, rejected, type Step, unchanged } from "../step.ts";
import { changedFromAbove, changedWithin, whyNotWithin } from "./ceiling.ts";
import { checkTenant } from "./check.ts";

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
