// tenant.delete: removes a tenant without work and vClusters. Its usage stays in the ledger and its finished records in
// the history.

import type { TenantId } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse } from "../../base/outcome.ts";
import type { Origin } from "../../model/origin.ts";
import { unfinished } from "../../queries/unfinished.ts";
import type { Step } from "../../transitions/step.ts";

export interface DeleteTenantCommand {
  readonly kind: "tenant.delete";
  readonly origin: Origin;
  readonly tenant: TenantId;
}

export function deleteTenant(step: Step, { tenant, origin }: DeleteTenantCommand): Outcome {
  const { state } = step;
  if (state.tenant(tenant) === undefined) return refuse("unknown_tenant", `there is no tenant ${quote(tenant)}`);
  const owned = Array.from(state.vclusters()).find((vcluster) => vcluster.tenant === tenant);
  if (owned !== undefined) return refuse("illegal_transition", `tenant "${tenant}" owns the vCluster "${owned.id}"`);
  const count = unfinished(state, ({ spec }) => spec.tenant === tenant);
  if (count > 0) {
    return refuse("illegal_transition", `tenant "${tenant}" has ${count} allocations that have not ended`, { count });
  }
  const { nodes } = state.usage(tenant);
  if (nodes > 0) return refuse("illegal_transition", `work of tenant "${tenant}" is still leaving ${nodes} nodes`);

  state.tables.tenants.delete(tenant);
  // A later tenant of this name starts without grants.
  for (const grant of Array.from(state.grants())) if (grant.tenant === tenant) state.removeGrant(grant);
  step.events.push({ kind: "tenant_changed", tenant, from: "", to: "deleted", user: origin.user });
  return accepted(tenant);
}
