// The usage report: figures in sentences, a bar per budget and a sparkline of days on a terminal, and a table by user
// or tenant.

import type { Budget, DayUsage, RunningUsage, Usage } from "@lattice/sdk";
import type { Paint } from "../../output/paint.ts";
import type { Printer } from "../../output/printer.ts";
import type { Column } from "../../output/table.ts";
import { clean, pad } from "../../output/text.ts";
import { bar, sparkline } from "./draw.ts";
import { hoursText } from "./hours.ts";
import { sentencesOf } from "./sentences.ts";

interface UsageStyle {
  /** Bars and sparklines, for a terminal. */
  readonly graphic: boolean;
  readonly wide: boolean;
}

const LABEL_WIDTH = 13;

export function showUsage(print: Printer, usage: Usage, { graphic, wide }: UsageStyle): void {
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
