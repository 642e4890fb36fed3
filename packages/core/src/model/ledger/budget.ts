// The used fraction of a tenant's soft budgets. With two budgets the higher fraction counts.

import { type Amount, MS_PER_HOUR } from "../../base/amount.ts";
import type { Quota } from "../tenant/tenant.ts";

/** Returns 0 for no usage, 1 at the budget, more beyond it; null without a budget. */
export function budgetUse({ gpuHoursBudget, nodeHoursBudget }: Quota, spent: Amount): number | null {
  const gpu = useOf(gpuHoursBudget, spent.gpuMs);
  const node = useOf(nodeHoursBudget, spent.nodeMs);
  if (gpu === null || node === null) return gpu ?? node;
  return Math.max(gpu, node);
}

/** A budget of 0 is always used up. */
export function useOf(budgetHours: number | null, usedMs: number): number | null {
  if (budgetHours === null) return null;
  return budgetHours === 0 ? 1 : usedMs / MS_PER_HOUR / budgetHours;
}
