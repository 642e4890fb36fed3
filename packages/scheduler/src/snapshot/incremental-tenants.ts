// The tenants, maintained across cycles. A tenant is updated when its record or use has changed, and also when its
// figures change with time: when it has a budget, or when it waits and has a share of the recent use. A new or deleted
// tenant changes the equal share of all, and all are built from scratch.

import type { Instant, TenantId, VCluster, View } from "@lattice/core";
import type { TenantInput } from "../input/cycle-input.ts";
import { hasBudget, tenantInput, usageBasis } from "./records.ts";

export interface IncrementalTenants {
  readonly inputs: TenantInput[];
  readonly byId: Map<string, TenantInput>;
  readonly indexOf: ReadonlyMap<TenantId, number>;
  readonly budgeted: ReadonlySet<TenantId>;
  /** Tenants whose share of the recent use is set. */
  readonly withShare: Set<TenantId>;
}

export interface TenantMoment {
  readonly view: View;
  readonly weights: VCluster["weights"];
  readonly now: Instant;
  readonly budgetDays: number;
  /** Tenants with pending allocations. */
  readonly waiting: ReadonlyMap<TenantId, number>;
}

export function createTenants({ view, weights, now, budgetDays, waiting }: TenantMoment): IncrementalTenants {
  const records = [...view.tenants()];
  const reckoning = usageBasis(view, { weights, now, days: budgetDays, tenants: records.length });
  const inputs = records.map((record) => tenantInput(view, record, waiting.has(record.id), reckoning));
  return {
    inputs,
    byId: new Map(inputs.map((input) => [input.id, input])),
    indexOf: new Map(records.map(({ id }, at) => [id, at])),
    budgeted: new Set(records.filter(hasBudget).map(({ id }) => id)),
    withShare: new Set(reckoning.all === 0 ? [] : waiting.keys()),
  };
}

/** Returns false when the tenants must be built from scratch. */
export function updateTenants(
  tenants: IncrementalTenants,
  changed: ReadonlySet<TenantId>,
  moment: TenantMoment,
): boolean {
  const { view, weights, now, budgetDays, waiting } = moment;
  const reckoning = usageBasis(view, { weights, now, days: budgetDays, tenants: tenants.inputs.length });
  const renew = (id: TenantId): boolean => {
    const record = view.tenant(id);
    const at = tenants.indexOf.get(id);
    if (record === undefined || at === undefined || hasBudget(record) !== tenants.budgeted.has(id)) return false;
    const input = tenantInput(view, record, waiting.has(id), reckoning);
    tenants.inputs[at] = input;
    tenants.byId.set(id, input);
    return true;
  };
  for (const id of changed) if (!renew(id)) return false;
  for (const id of tenants.budgeted) if (!changed.has(id)) renew(id);
  for (const id of tenants.withShare) {
    if (reckoning.all > 0 && waiting.has(id)) continue;
    tenants.withShare.delete(id);
    if (!changed.has(id)) renew(id);
  }
  if (reckoning.all === 0) return true;
  for (const id of waiting.keys()) {
    tenants.withShare.add(id);
    if (!changed.has(id)) renew(id);
  }
  return true;
}
