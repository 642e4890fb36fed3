// The tenants from cycle to cycle. One whose record or use has changed is looked at again, and so are those
// whose figures change with time alone: who has a budget, and who waits and is told its share of what was
// used. A tenant more or less changes everybody's equal share; then all of them are made anew.

import type { Instant, TenantId, VCluster, View } from "@lattice/core";
import type { TenantInput } from "./cycle-types.ts";
import { hasBudget, reckoningOf, tenantInput } from "./snapshot-records.ts";

export interface KeptTenants {
  readonly inputs: TenantInput[];
  readonly byId: Map<string, TenantInput>;
  readonly placeOf: ReadonlyMap<TenantId, number>;
  readonly budgeted: ReadonlySet<TenantId>;
  /** Those that were told their share. */
  readonly shared: Set<TenantId>;
}

export interface Moment {
  readonly view: View;
  readonly weights: VCluster["weights"];
  readonly now: Instant;
  readonly budgetDays: number;
  /** Who waits. */
  readonly waiting: ReadonlyMap<TenantId, number>;
}

export function keepTenants({ view, weights, now, budgetDays, waiting }: Moment): KeptTenants {
  const records = [...view.tenants()];
  const reckoning = reckoningOf(view, { weights, now, days: budgetDays, tenants: records.length });
  const inputs = records.map((record) => tenantInput(view, record, waiting.has(record.id), reckoning));
  return {
    inputs,
    byId: new Map(inputs.map((input) => [input.id, input])),
    placeOf: new Map(records.map(({ id }, at) => [id, at])),
    budgeted: new Set(records.filter(hasBudget).map(({ id }) => id)),
    shared: new Set(reckoning.all === 0 ? [] : waiting.keys()),
  };
}

/** False when they must be made anew. */
export function updateTenants(kept: KeptTenants, changed: ReadonlySet<TenantId>, moment: Moment): boolean {
  const { view, weights, now, budgetDays, waiting } = moment;
  const reckoning = reckoningOf(view, { weights, now, days: budgetDays, tenants: kept.inputs.length });
  const renew = (id: TenantId): boolean => {
    const record = view.tenant(id);
    const at = kept.placeOf.get(id);
    if (record === undefined || at === undefined || hasBudget(record) !== kept.budgeted.has(id)) return false;
    const input = tenantInput(view, record, waiting.has(id), reckoning);
    kept.inputs[at] = input;
    kept.byId.set(id, input);
    return true;
  };
  for (const id of changed) if (!renew(id)) return false;
  for (const id of kept.budgeted) if (!changed.has(id)) renew(id);
  for (const id of kept.shared) {
    if (reckoning.all > 0 && waiting.has(id)) continue;
    kept.shared.delete(id);
    if (!changed.has(id)) renew(id);
  }
  if (reckoning.all === 0) return true;
  for (const id of waiting.keys()) {
    kept.shared.add(id);
    if (!changed.has(id)) renew(id);
  }
  return true;
}
