// How far a tenant's soft budgets are used up. Both may be set; then the worse of the two counts.

import type { Quota } from "../tenant/tenant.ts";
import { type Amount, MS_PER_HOUR } from "./amount.ts";

/** 0 when nothing is used, 1 at the budget, more beyond it; null without a budget. */
export function budgetUse({ gpuHoursBudget, nodeHoursBudget }: Quota, spent: Amount): number | null {
  const gpu = useOf(gpuHoursBudget, spent.gpuMs);
  const node = useOf(nodeHoursBudget, spent.nodeMs);
  if (gpu === null || node === null) return gpu ?? node;
  return Math.max(gpu, node);
}

/** A budget of nothing is used up from the start. */
export function useOf(budgetHours: number | null, usedMs: number): number | null {
  if (budgetHours === null) return null;
  return budgetHours === 0 ? 1 : usedMs / MS_PER_HOUR / budgetHours;
}
