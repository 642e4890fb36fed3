// The report of one replay, or of several for comparison: utilisation over time, the distribution of waits, shares, and
// the figures that profiles are compared by.

import type { Figures } from "../result/figures.ts";
import type { Summary } from "../result/summary.ts";
import { comparisonText, policyName } from "../result/text.ts";
import { percent, time, whole } from "../words/amounts.ts";
import { htmlTable, page } from "./page.ts";
import { bars, type ChartFrame, chart, escapeXml, line } from "./svg.ts";

/** The first summary is the subject; the others are compared with it. */
export function reportHtml(summaries: readonly Summary[]): string {
  const [first] = summaries;
  if (first === undefined) throw new Error("a report needs a result");
  return page(`RM-Replay: ${first.name}`, [
    `<p>${escapeXml(`${whole(first.jobs)} jobs on ${whole(first.nodes)} nodes, policy ${policyName(first)}.`)}</p>`,
    htmlTable(comparisonRows(summaries)),
    utilisationChart(summaries),
    waitChart(summaries),
    shareChart(first),
    ...(summaries.length > 1 ? comparisonCharts(summaries) : []),
    ownerTable("tenant", first.tenants),
    // A trace that knows only one of the two has equal tables.
    ...(isSame(first) ? [] : [ownerTable("user", first.users)]),
    `<pre>${escapeXml(comparisonText(summaries))}</pre>`,
  ]);
}

function comparisonRows(summaries: readonly Summary[]): readonly (readonly string[])[] {
  const row = (name: string, of: (summary: Summary) => string): readonly string[] => [name, ...summaries.map(of)];
  return [
    row("", (s) => s.name),
    row("Policy", policyName),
    row("Jobs", (s) => whole(s.jobs)),
    row("Utilization", (s) => percent(s.utilisation)),
    row("Wait p50", (s) => time(s.wait.median)),
    row("Wait p95", (s) => time(s.wait.p95)),
    row("Wait p99", (s) => time(s.wait.p99)),
    row("Mean bounded slowdown", (s) => s.meanBoundedSlowdown.toFixed(3)),
    row("Jain's index of slowdowns", (s) => s.jainSlowdown.toFixed(3)),
    row("Jain's index of shares", (s) => s.jainShare.toFixed(3)),
    row("Largest share deviation", (s) => percent(s.shareDeviation)),
    row("Backfilled", (s) => whole(s.backfilled)),
    row("Preemptions", (s) => whole(s.preemptions)),
    row("Reserved jobs", (s) => whole(s.reserved)),
    row("Started later than reserved", (s) => whole(s.late)),
  ];
}

function utilisationChart(summaries: readonly Summary[]): string {
  const days = (summaries[0]?.makespanSeconds ?? 0) / 86_400;
  const frame: ChartFrame = {
    title: "Utilization over time",
    xLabel: `${days.toFixed(1)} days`,
    yLabel: "part of the machine",
    yMax: 1,
    yText: percent,
  };
  const lines = summaries.map((summary, i) => line(frame, summary.timeline.used, i));
  return chart(frame, lines.join("\n"), names(summaries));
}

function waitChart(summaries: readonly Summary[]): string {
  const part = (summary: Summary, bin: number): number => (summary.waits[bin]?.jobs ?? 0) / Math.max(1, summary.jobs);
  const labels = summaries[0]?.waits.map((bin) => bin.label) ?? [];
  const groups = labels.map((label, bin) => ({ label, values: summaries.map((summary) => part(summary, bin)) }));
  const frame: ChartFrame = {
    title: "Wait distribution",
    xLabel: "waited up to",
    yLabel: "part of the jobs",
    yMax: highest(groups.flatMap((group) => group.values)),
    yText: percent,
  };
  return chart(frame, bars(frame, groups), names(summaries));
}

/** As many as fit with their names. */
const SHOWN_TENANTS = 12;

function shareChart({ tenants }: Summary): string {
  const groups = tenants
    .slice(0, SHOWN_TENANTS)
    .map(({ name, got, due }) => ({ label: short(name), values: [got, due] }));
  const frame: ChartFrame = {
    title: "Share per tenant while work was waiting",
    xLabel: "tenants with the most work",
    yLabel: "part of what all got, and were due",
    yMax: highest(groups.flatMap((group) => group.values)),
    yText: percent,
  };
  return chart(frame, bars(frame, groups), ["got", "due"]);
}

function comparisonCharts(summaries: readonly Summary[]): readonly string[] {
  const one = (title: string, of: (summary: Summary) => number, yText: (value: number) => string): string => {
    const frame: ChartFrame = { title, xLabel: "", yLabel: "", yMax: highest(summaries.map(of)), yText };
    return chart(
      frame,
      bars(
        frame,
        summaries.map((s) => ({ label: short(s.name), values: [of(s)] })),
      ),
    );
  };
  return [
    one(
      "Mean bounded slowdown",
      (s) => s.meanBoundedSlowdown,
      (value) => value.toFixed(1),
    ),
    one("Wait, p99", (s) => s.wait.p99, time),
    one(
      "Jain's index of slowdowns",
      (s) => s.jainSlowdown,
      (value) => value.toFixed(3),
    ),
  ];
}

const isSame = ({ users, tenants }: Summary): boolean =>
  users.length === tenants.length && users.every(({ name }, at) => name === tenants[at]?.name);

/** Shares and targets are known for tenants only. */
function ownerTable(title: string, owners: readonly (Figures & { readonly got?: number; readonly due?: number })[]) {
  const part = (value: number | undefined): string => (value === undefined ? "" : percent(value));
  const rows = owners.map((owner) => [
    owner.name,
    whole(owner.jobs),
    percent(owner.workShare),
    part(owner.got),
    part(owner.due),
    time(owner.meanWaitSeconds),
    owner.meanBoundedSlowdown.toFixed(2),
  ]);
  return htmlTable([[title, "jobs", "work", "got", "due", "mean wait", "mean slowdown"], ...rows]);
}

const names = (summaries: readonly Summary[]): readonly string[] =>
  summaries.length > 1 ? summaries.map((summary) => short(summary.name)) : [];

const short = (name: string): string => (name.length > 18 ? `${name.slice(0, 17)}…` : name);

const highest = (values: readonly number[]): number => Math.max(1e-9, ...values);
