// Usage of tenants and users, from the ledger. Every figure includes running work.

import { create } from "@bufbuild/protobuf";
import {
  type Amount,
  beginOf,
  type Day,
  dayOf,
  firstKeptDay,
  type Holder,
  type Instant,
  instant,
  LEDGER_DAYS,
  type Ledger,
  lastDays,
  MS_PER_HOUR,
  NO_USE,
  OTHER_USERS,
  parseTenantId,
  parseUserName,
  plus,
  type RunningNow,
  type Tenant,
  type TenantId,
  type UserName,
  useOf,
  type Window,
} from "@lattice/core";
import { milliToFraction, parseTimestamp, pb, timestampFromMs, timestampToMs } from "@lattice/wire";
import { invalid, unknownTenant } from "../../base/problems.ts";
import { authorize, authorizeList, reacher, reaches } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";
import { MAX_USERS_SHOWN } from "../limits/limits.ts";

export async function getTenantUsage(call: Call, request: pb.GetTenantUsageRequest): Promise<pb.Usage> {
  const tenant = find(call, request.id);
  authorize(call.principal, "AdminService.GetTenantUsage", { tenant: tenant.id, user: null });
  const user = request.user === "" ? undefined : parseUser(request.user);
  if (user !== undefined) authorize(call.principal, "AdminService.GetUserUsage", { tenant: tenant.id, user });
  const window = windowOf(request, call.plane.now(), call.config.scheduling.budgetPeriodDays);
  return usageOf(call, window, { tenants: [tenant.id], user });
}

export async function getUserUsage(call: Call, request: pb.GetUserUsageRequest): Promise<pb.Usage> {
  const { principal } = call;
  authorizeList(principal, "AdminService.GetUserUsage");
  const user = request.user === "" ? principal.user : parseUser(request.user);
  const named = request.tenant === "" ? principal.tenant : find(call, request.tenant).id;
  if (named !== null) authorize(principal, "AdminService.GetUserUsage", { tenant: named, user });
  const window = windowOf(request, call.plane.now(), call.config.scheduling.budgetPeriodDays);
  return usageOf(call, window, { tenants: named === null ? visibleTenants(call, user) : [named], user });
}

interface UsageScope {
  readonly tenants: readonly TenantId[];
  readonly user: UserName | undefined;
}

function usageOf(call: Call, window: Window, { tenants, user }: UsageScope): pb.Usage {
  const view = call.plane.view();
  const { ledger } = view;
  const holders = tenants.map((tenant): Holder => (user === undefined ? { tenant } : { tenant, user }));
  const spent = holders.map((holder) => ledger.spent(holder, window)).reduce(plus, NO_USE);
  const [first] = tenants;
  const only = tenants.length === 1 && first !== undefined ? view.tenant(first) : undefined;
  const users = only === undefined ? [] : usersOf(call, window, only.id, user);
  return create(pb.UsageSchema, {
    tenant: only?.id ?? "",
    user: user ?? "",
    since: formatDay(window.from),
    until: formatDay(window.to),
    days: window.to - window.from + 1,
    calculatedAt: timestampFromMs(window.now),
    ...hoursOf(spent),
    running: wholeNodes(holders.map((holder) => ledger.running(holder)).reduce(together, NONE)),
    budgets: only === undefined ? [] : budgetsOf(call, only, window),
    share: shareOf(spent, ledger.spent({}, window)),
    ...sharesOf(only),
    byDay: daysOf(ledger, window, holders),
    byUser: users.slice(0, MAX_USERS_SHOWN),
    users: users.length,
    byTenant: holders.map((holder) => ({
      tenant: holder.tenant ?? "",
      ...hoursOf(ledger.spent(holder, window)),
      running: wholeNodes(ledger.running(holder)),
    })),
    logIndex: String(view.index),
  });
}

/** Rounds shares of a node up. */
const wholeNodes = <Running extends { readonly nodes: number }>(running: Running): Running => ({
  ...running,
  nodes: Math.ceil(running.nodes),
});

/** Budgets cover the whole tenant and their own period, independent of the requested window. */
function budgetsOf(call: Call, { id, quota }: Tenant, { now }: Window) {
  const periodDays = call.config.scheduling.budgetPeriodDays;
  const spent = call.plane.view().ledger.spent({ tenant: id }, lastDays(now, periodDays));
  const budgets = [
    { kind: "gpu_hours", hours: quota.gpuHoursBudget, usedMs: spent.gpuMs },
    { kind: "node_hours", hours: quota.nodeHoursBudget, usedMs: spent.nodeMs },
  ];
  return budgets.flatMap(({ kind, hours, usedMs }) => {
    if (hours === null) return [];
    const usedHours = rounded(usedMs / MS_PER_HOUR);
    const percent = Math.round((useOf(hours, usedMs) ?? 0) * 10_000) / 100;
    return [{ kind, periodDays, hours, usedHours, remainingHours: rounded(Math.max(0, hours - usedHours)), percent }];
  });
}

/** Returns the users whose usage the caller may see. */
function usersOf(call: Call, window: Window, tenant: TenantId, only: UserName | undefined) {
  const { ledger } = call.plane.view();
  const sees = reacher(call.principal, "AdminService.GetUserUsage");
  const users = only === undefined ? ledger.users(tenant) : [only];
  return users
    .filter((user) => sees({ tenant, user }))
    .map((user) => ({ user, spent: ledger.spent({ tenant, user }, window), running: ledger.running({ tenant, user }) }))
    .filter(({ spent, running }) => spent.nodeMs > 0 || running.allocations > 0)
    .sort((a, b) => b.spent.nodeMs - a.spent.nodeMs || (a.user < b.user ? -1 : 1))
    .map(({ user, spent, running }) => ({
      user: user === OTHER_USERS ? OTHERS_SHOWN : user,
      ...hoursOf(spent),
      running: wholeNodes(running),
    }));
}

function daysOf(ledger: Ledger, window: Window, holders: readonly Holder[]) {
  const sums: Amount[] = Array.from({ length: window.to - window.from + 1 }, () => NO_USE);
  for (const holder of holders) {
    for (const [n, amount] of ledger.days(holder, window).entries()) sums[n] = plus(sums[n] ?? NO_USE, amount);
  }
  return sums.map((amount, n) => ({ day: formatDay(window.from + n), ...hoursOf(amount) }));
}

/** Returns the tenants in which the caller may see usage of the user. */
function visibleTenants(call: Call, user: UserName): TenantId[] {
  const { ledger } = call.plane.view();
  return ledger
    .tenants()
    .filter((tenant) => ledger.users(tenant).includes(user))
    .filter((tenant) => reaches(call.principal, "AdminService.GetUserUsage", { tenant, user }));
}

/** The row that sums the users beyond the limit of the ledger. */
const OTHERS_SHOWN = "(others)";
const NONE: RunningNow = { allocations: 0, nodes: 0, gpus: 0 };

const together = (a: RunningNow, b: RunningNow): RunningNow => ({
  allocations: a.allocations + b.allocations,
  nodes: a.nodes + b.nodes,
  gpus: a.gpus + b.gpus,
});

function sharesOf(tenant: Tenant | undefined) {
  const { fairShareMilli = null, burstAllowanceMilli = null } = tenant?.quota ?? {};
  return {
    ...(fairShareMilli === null ? {} : { fairShareTarget: milliToFraction(fairShareMilli) }),
    ...(burstAllowanceMilli === null ? {} : { burstAllowance: milliToFraction(burstAllowanceMilli) }),
  };
}

const shareOf = (part: Amount, whole: Amount): number =>
  whole.nodeMs === 0 ? 0 : Math.round((part.nodeMs / whole.nodeMs) * 1e6) / 1e6;

const hoursOf = ({ nodeMs, gpuMs }: Amount) => ({
  nodeHours: rounded(nodeMs / MS_PER_HOUR),
  gpuHours: rounded(gpuMs / MS_PER_HOUR),
});

/** Rounds to a few milliseconds, so that a job of one second still shows. */
const rounded = (hours: number): number => Math.round(hours * 1e6) / 1e6;

function find(call: Call, id: string): Tenant {
  const parsed = parseTenantId(id);
  const tenant = parsed === null ? undefined : call.plane.view().tenant(parsed);
  if (tenant === undefined) throw unknownTenant(id);
  return tenant;
}

function parseUser(text: string): UserName {
  const user = parseUserName(text);
  if (user === null) throw invalid("user", "is not a user name");
  return user;
}

// as in the ledger; an instant selects its day.

interface WindowRequest {
  readonly days?: number | undefined;
  readonly since: string;
  readonly until: string;
}

function windowOf(request: WindowRequest, now: Instant, presetDays: number): Window {
  const { days, since, until } = request;
  const today = dayOf(now);
  if (days !== undefined && (since !== "" || until !== "")) {
    throw invalid("days", "cannot be combined with since or until", "Give either the number of days or the range.");
  }
  if (days !== undefined && (days < 1 || days > LEDGER_DAYS)) {
    throw invalid("days", `is ${days}; from 1 to ${LEDGER_DAYS}`, `The ledger goes back ${LEDGER_DAYS} days.`);
  }
  const to = until === "" ? today : Math.min(today, parseDay("until", until));
  const preset = Math.max(firstKeptDay(now), to - (days ?? presetDays) + 1);
  const from = since === "" ? preset : parseDay("since", since);
  const oldest = firstKeptDay(now);
  if (from < oldest) {
    throw invalid("since", `is before ${formatDay(oldest)}`, `The ledger goes back ${LEDGER_DAYS} days.`);
  }
  if (from > to) throw invalid(since === "" ? "until" : "since", `no day from ${formatDay(from)} to ${formatDay(to)}`);
  return { from, to, now };
}

const formatDay = (day: Day): string => new Date(beginOf(day)).toISOString().slice(0, 10);

const DATE = /^\d{4}-\d{2}-\d{2}$/;

function parseDay(field: string, text: string): Day {
  const at = parseTimestamp(DATE.test(text) ? `${text}T00:00:00Z` : text);
  if (at !== null) return dayOf(instant(timestampToMs(at)));
  throw invalid(field, "is not a day", "Write it as 2026-03-01, or as an instant such as 2026-03-01T12:00:00Z.");
}
