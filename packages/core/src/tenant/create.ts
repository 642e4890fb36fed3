// An administrator makes a tenant.

import { problemList } from "../allocation/check-values.ts";
import type { CreateTenantCommand } from "../command.ts";
import { parseTenantId } from "../ids.ts";
import type { Outcome } from "../outcome.ts";
import { accepted, refuse, refuseFields, type Step } from "../step.ts";
import { checkTenant } from "./check.ts";
import type { Tenant } from "./tenant.ts";

export function createTenant(step: Step, command: CreateTenantCommand): Outcome {
  const { tenant: id, description, quota, maxPreemptionClass } = command;
  const tenant: Tenant = { id, description, quota, maxPreemptionClass, createdAt: step.at, automatic: false };
  const problems = problemList();
  problems.unless(parseTenantId(id) !== null, "id", "must be 1 to 63 letters, digits, dots, dashes or underscores");
  checkTenant(problems, tenant);
  if (problems.list.length > 0) return refuseFields(problems.list);
  if (step.state.tenant(id) !== undefined) return refuse("already_exists", `tenant "${id}" exists already`);

  step.state.tables.tenants.set(id, tenant);
  step.events.push({ kind: "tenant_changed", tenant: id, from: "", to: "created", user: command.origin.user });
  return accepted(id);
}
