// Checks a tenant's limits. `null` means unlimited, and is always acceptable.

import { isCount, type Problems } from "../checks.ts";
import { checkPreemptionClass } from "../spec/check.ts";
import type { Quota, Tenant } from "./tenant.ts";

const MAX_TENANT_DESCRIPTION_LENGTH = 1024;
/** For counts and hours: far more than any cluster has, and still exact. */
export const MAX_QUOTA = 1_000_000_000_000;
/** A hundred times its share. */
export const MAX_BURST_MILLI = 100_000;

export const FIELDS: Readonly<Record<keyof Quota, { readonly field: string; readonly most: number }>> = {
  maxNodes: { field: "quota.max_nodes", most: MAX_QUOTA },
  maxConcurrentAllocations: { field: "quota.max_concurrent_allocations", most: MAX_QUOTA },
  fairShareMilli: { field: "quota.fair_share_target", most: 1000 },
  gpuHoursBudget: { field: "quota.gpu_hours_budget", most: MAX_QUOTA },
  nodeHoursBudget: { field: "quota.node_hours_budget", most: MAX_QUOTA },
  maxNetworkDomains: { field: "quota.max_network_domains", most: MAX_QUOTA },
  burstAllowanceMilli: { field: "quota.burst_allowance", most: MAX_BURST_MILLI },
};

export function checkTenant(
  problems: Problems,
  tenant: Pick<Tenant, "description" | "quota" | "maxPreemptionClass">,
): void {
  problems.text("description", tenant.description, MAX_TENANT_DESCRIPTION_LENGTH);
  checkPreemptionClass(problems, "max_preemption_class", tenant.maxPreemptionClass);
  for (const key of Object.keys(FIELDS) as (keyof Quota)[]) {
    const value = tenant.quota[key] ?? null;
    const { field, most } = FIELDS[key];
    const milli = key.endsWith("Milli");
    const range = milli ? `must be from 0 to ${most / 1000}` : `must be a whole number from 0 to ${most}`;
    problems.unless(value === null || isCount(value, 0, most), field, range);
  }
}
