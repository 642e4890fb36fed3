// Raises and clears notices about exhausted budgets: administrators of the tenant get one notice per
// exhaustion. Pure.

import {
  budgetUse,
  type ClearNoticeCommand,
  type Instant,
  lastDays,
  noticeKey,
  type RaiseNoticeCommand,
  type View,
} from "@lattice/core";

interface BudgetInputs {
  readonly now: Instant;
  readonly periodDays: number;
}

export function decideBudgets(
  view: View,
  { now, periodDays }: BudgetInputs,
): readonly (RaiseNoticeCommand | ClearNoticeCommand)[] {
  const window = lastDays(now, periodDays);
  const commands: (RaiseNoticeCommand | ClearNoticeCommand)[] = [];
  for (const { id, quota } of view.tenants()) {
    const key = noticeKey("budget_exhausted", id);
    const notice = view.notice(key);
    const isRaised = notice !== undefined && notice.clearedAt === undefined;
    const use = budgetUse(quota, view.ledger.spent({ tenant: id }, window));
    const exhausted = use !== null && use >= 1;
    if (isRaised && !exhausted) commands.push({ kind: "notice.clear", key });
    if (isRaised || !exhausted) continue;
    const text = `tenant "${id}" has used ${Math.round(use * 100)} % of its budget of the last ${periodDays} days; its work waits behind that of others`;
    commands.push({
      kind: "notice.raise",
      notice: { key, kind: "budget_exhausted", text, tenant: id, user: null },
    });
  }
  return commands;
}
