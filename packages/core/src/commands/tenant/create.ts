// tenant.create: an administrator creates a tenant.

import type { TenantId } from "../../base/ids.ts";
import { parseTenantId } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, refuse, refuseFields } from "../../base/outcome.ts";
import { problemList } from "../../model/checks.ts";
import type { Origin } from "../../model/origin.ts";
import { checkTenant } from "../../model/tenant/check.ts";
import type { Quota, Tenant } from "../../model/tenant/tenant.ts";
import type { Step } from "../../transitions/step.ts";

export interface CreateTenantCommand {
  readonly kind: "tenant.create";
  readonly origin: Origin;
  readonly tenant: TenantId;
  readonly description: string;
  readonly quota: Quota;
  readonly maxPreemptionClass: number;
}

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
