// `lattice usage`: the usage of the user, or of a tenant with --tenant, and the state of budgets.

import type { Budget, DayUsage, GetTenantUsageRequest, RunningUsage, Usage } from "@lattice/sdk";
import { type Command, InvalidArgumentError } from "commander";
import { type Context, createContext } from "../context.ts";
import { globalFlags } from "../global-options.ts";
import type { Paint } from "../output/paint.ts";
import type { Printer } from "../output/printer.ts";
import type { Column } from "../output/table.ts";
import { clean, pad } from "../output/text.ts";
import { parseCount } from "../parse/count.ts";
import { bar, sparkline } from "./usage/draw.ts";
import { hoursText } from "./usage/hours.ts";

interface UsageFlags {
  readonly user?: string;
  readonly days?: number;
  readonly since?: string;
  readonly until?: string;
}

/** The ledger covers this many days. */
const MAX_DAYS = 90;

export function define(command: Command): void {
  command
    .option("--user <name>", "usage of this user")
    .option("--days <count>", "the last days, including today", (text) => parseCount(text, 1, MAX_DAYS))
    .option("--since <day>", "from this day, for example 2026-03-01 (UTC)")
    .option("--until <day>", "up to and including this day")
    .action(async (flags: UsageFlags) => {
      if (flags.days !== undefined && (flags.since !== undefined || flags.until !== undefined)) {
        throw new InvalidArgumentError("--days cannot be combined with --since or --until");
      }
      const context = await createContext(command);
      const usage = await fetchUsage(context, flags, globalFlags(command).tenant);
      const { print, settings } = context;
      if (print.structured) return print.document(usage);
      if (settings.quiet) {
        return print.lines([`node_hours ${usage.node_hours ?? 0}`, `gpu_hours ${usage.gpu_hours ?? 0}`]);
      }
      const terminal = process.stdout.isTTY === true;
      showUsage(print, usage, { graphic: terminal, wide: settings.output === "wide" });
    });
}

/** --tenant requests the usage of the whole tenant; a tenant from the settings only filters the user's own. */
function fetchUsage({ client, settings }: Context, flags: UsageFlags, named: string | undefined): Promise<Usage> {
  const query = queryOf(flags);
  if (named !== undefined) return client.usage.tenant(named, query);
  const { tenant } = settings;
  return client.usage.user({ ...query, ...(tenant === undefined ? {} : { tenant }) });
}

/** Picks the fields, because commander adds the global flags to the same object. */
const queryOf = ({ user, days, since, until }: UsageFlags): GetTenantUsageRequest => ({
  ...(user === undefined ? {} : { user }),
  ...(days === undefined ? {} : { days }),
  ...(since === undefined ? {} : { since }),
  ...(until === undefined ? {} : { until }),
});

interface UsageStyle {
  /** Bars and sparklines, for a terminal. */
  readonly graphic: boolean;
  readonly wide: boolean;
}

const LABEL_WIDTH = 13;

function showUsage(print: Printer, usage: Usage, { graphic, wide }: UsageStyle): void {
  for (const sentence of sentencesOf(usage)) print.line(clean(sentence));
  if (graphic) print.lines(["", ...drawn(print.paint, usage)]);
  const rows = breakdown(usage);
  if (rows.length > 0) {
    print.line("");
    print.table(columns(rows[0]?.label ?? ""), rows);
  }
  if (!wide) return;
  print.line("");
  print.table(DAY_COLUMNS, usage.by_day ?? []);
}

function drawn(paint: Paint, { budgets = [], by_day = [] }: Usage): string[] {
  const label = (text: string) => pad(text, LABEL_WIDTH);
  const bars = budgets.map((budget) => label(nameOf(budget)) + painted(paint, budget));
  const gpus = by_day.some((day) => (day.gpu_hours ?? 0) > 0);
  const values = by_day.map((day) => (gpus ? day.gpu_hours : day.node_hours) ?? 0);
  // The newest days that fit on the line.
  const width = (process.stdout.columns ?? 80) - LABEL_WIDTH;
  return [...bars, label(gpus ? "GPUs by day" : "Nodes by day") + paint("cyan", sparkline(values.slice(-width)))];
}

function painted(paint: Paint, { percent, hours }: Budget): string {
  const colour = percent >= 100 ? "red" : percent >= 80 ? "yellow" : "green";
  return `${paint(colour, bar(percent / 100))} ${Math.round(percent)} % of ${hoursText(hours)}`;
}

const nameOf = ({ kind }: Budget): string => (kind === "gpu_hours" ? "GPU-hours" : "Node-hours");

interface Row extends Omit<DayUsage, "day"> {
  readonly label: "USER" | "TENANT";
  readonly name: string;
  readonly running?: RunningUsage | undefined;
}

/** One tenant is broken down by user, several by tenant; a single row would repeat the total. */
function breakdown({ tenant = "", user = "", by_user = [], by_tenant = [] }: Usage): Row[] {
  if (tenant !== "" && user === "") return by_user.map((one) => ({ label: "USER", name: one.user, ...one }));
  if (by_tenant.length < 2) return [];
  return by_tenant.map((one) => ({ label: "TENANT", name: one.tenant, ...one }));
}

const columns = (label: string): readonly Column<Row>[] => [
  { header: label, value: (row) => row.name, flexible: true },
  { header: "NODE-HOURS", value: (row) => hoursText(row.node_hours), align: "right" },
  { header: "GPU-HOURS", value: (row) => hoursText(row.gpu_hours), align: "right" },
  { header: "RUNNING", value: (row) => String(row.running?.allocations ?? 0), align: "right" },
];

const DAY_COLUMNS: readonly Column<DayUsage & { readonly day: string }>[] = [
  { header: "DAY", value: (row) => row.day },
  { header: "NODE-HOURS", value: (row) => hoursText(row.node_hours), align: "right" },
  { header: "GPU-HOURS", value: (row) => hoursText(row.gpu_hours), align: "right" },
];

function sentencesOf(usage: Usage): string[] {
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
