// Describes usage in sentences, with a forecast from the rate of the last week.

import type { Budget, Usage } from "@lattice/sdk";
import { hoursText } from "./hours.ts";

export function sentencesOf(usage: Usage): string[] {
  return [usedText(usage), runningText(usage), ...shareText(usage), ...budgetTexts(usage)].filter(
    (text) => text !== "",
  );
}

function usedText(usage: Usage): string {
  const { days, since, until, node_hours, gpu_hours } = usage;
  const when = isLatest(usage) ? lastDays(days) : since === until ? `on ${since}` : `from ${since} to ${until}`;
  return `${who(usage)} used ${hoursText(node_hours)} node-hours and ${hoursText(gpu_hours)} GPU-hours ${when}.`;
}

function runningText({ running }: Usage): string {
  const { allocations = 0, nodes = 0, gpus = 0 } = running ?? {};
  if (allocations === 0) return "Nothing is running now.";
  const where = `${counted(nodes, "node")}${gpus === 0 ? "" : ` with ${counted(gpus, "GPU")}`}`;
  return `${counted(allocations, "allocation")} ${allocations === 1 ? "is" : "are"} running now, on ${where}.`;
}

function shareText({ tenant = "", user = "", share = 0, fair_share_target }: Usage): string[] {
  if (tenant === "" || user !== "" || fair_share_target === undefined) return [];
  const place = share > fair_share_target ? "above" : "below";
  const [is, target] = [share, fair_share_target].map((part) => `${Math.round(part * 100)} %`);
  return [`That is ${is} of the cluster's use, ${place} the tenant's share of ${target}.`];
}

function budgetTexts(usage: Usage): string[] {
  const { tenant = "", budgets = [] } = usage;
  return budgets.map((budget) => {
    const { kind, hours, used_hours, percent, period_days } = budget;
    const unit = kind === "gpu_hours" ? "GPU-hours" : "node-hours";
    const used = `${tenant} used ${hoursText(used_hours)} of ${hoursText(hours)} ${unit} (${Math.round(percent)} %)`;
    return `${used} ${lastDays(period_days)}; ${outlook(usage, budget)}.`;
  });
}

/** The forecast assumes the rate of these days. */
const RECENT_DAYS = 7;

/** The budget window rolls, so a steady rate below budget / period never exhausts it. */
function outlook(usage: Usage, { kind, hours, remaining_hours, period_days }: Budget): string {
  if (remaining_hours <= 0) return "the budget is used up, so its allocations queue behind others";
  // The days give the tenant's rate only when they cover all of its users up to today.
  const recent = (usage.by_day ?? []).slice(-RECENT_DAYS);
  if ((usage.user ?? "") !== "" || !isLatest(usage) || recent.length < RECENT_DAYS) {
    return `${hoursText(remaining_hours)} are left`;
  }
  const rate =
    recent.reduce((sum, day) => sum + (kind === "gpu_hours" ? day.gpu_hours : day.node_hours), 0) / RECENT_DAYS;
  if (rate * period_days <= hours) return "at the rate of the last week it will not be used up";
  const left = Math.ceil(remaining_hours / rate);
  return `at the rate of the last week it will be used up in ${counted(left, "day")}`;
}

function who({ tenant = "", user = "" }: Usage): string {
  if (user === "") return tenant;
  return tenant === "" ? user : `${user} in ${tenant}`;
}

const isLatest = ({ calculated_at, until }: Usage): boolean =>
  calculated_at === undefined || calculated_at.startsWith(until);
const lastDays = (days: number): string => (days === 1 ? "today" : `in the last ${days} days`);
const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
