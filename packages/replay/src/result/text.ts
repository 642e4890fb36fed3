// The summary as text, in the form of the tuning guide; with a baseline every figure is compared with it.

import { change, percent, time, whole } from "../words/amounts.ts";
import type { Summary } from "./summary.ts";

export function summaryText(summary: Summary, baseline: Summary | null = null): string {
  const beside = (of: (summary: Summary) => number, show: (value: number) => string): string => {
    const value = of(summary);
    if (baseline === null) return show(value);
    const before = of(baseline);
    return `${show(value)} (${baseline.name}: ${show(before)}) ${change(value, before)}`;
  };
  const wait = (name: string, of: (summary: Summary) => number): string => `  ${name}: ${beside(of, time)}`;
  return `${[
    `=== RM-Replay Results: ${summary.name} ===`,
    ...runLines(summary),
    "Utilization:",
    ...utilisationLines(summary, baseline),
    "Wait Time:",
    wait("p50", (s) => s.wait.median),
    wait("p95", (s) => s.wait.p95),
    wait("p99", (s) => s.wait.p99),
    wait("mean", (s) => s.wait.mean),
    "Bounded Slowdown:",
    `  mean: ${beside((s) => s.meanBoundedSlowdown, three)}`,
    "Fairness (Jain's Index):",
    `  of slowdowns: ${beside((s) => s.jainSlowdown, three)}`,
    `  of shares: ${beside((s) => s.jainShare, three)}`,
    "Tenant Share Deviation:",
    `  Max deviation: ${beside((s) => s.shareDeviation, percent)}`,
    "Backfill:",
    `  Backfill jobs: ${beside((s) => s.backfilled, whole)}`,
    "Preemptions:",
    `  Total: ${beside((s) => s.preemptions, whole)}`,
    ...(summary.reserved === 0
      ? []
      : [
          "Reservations:",
          `  Reserved jobs: ${beside((s) => s.reserved, whole)}`,
          `  Started later than reserved: ${beside((s) => s.late, whole)}`,
        ]),
  ].join("\n")}\n`;
}

/** Returns one row per result. */
export function comparisonText(summaries: readonly Summary[]): string {
  const head = ["result", "policy", "utilization", "p50 wait", "p99 wait", "slowdown", "Jain", "share dev", "backfill"];
  const rows = summaries.map((s) => [
    s.name,
    policyName(s),
    percent(s.utilisation),
    time(s.wait.median),
    time(s.wait.p99),
    three(s.meanBoundedSlowdown),
    three(s.jainSlowdown),
    percent(s.shareDeviation),
    whole(s.backfilled),
  ]);
  return table([head, ...rows]);
}

/** Formats columns as wide as their widest cell. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, i) => cell.padEnd(widths[i] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}

export const policyName = ({ policy, perfect }: Summary): string => (perfect ? `${policy}, perfect` : policy);

function runLines(summary: Summary): readonly string[] {
  const { noSize, noRunTime, tooLarge } = summary.droppedBecause;
  const causes = `no size ${noSize}, no run time ${noRunTime}, larger than the machine ${tooLarge}`;
  return [
    "Run:",
    `  Policy: ${policyName(summary)}`,
    `  Machine: ${whole(summary.nodes)} nodes`,
    `  Jobs: ${whole(summary.jobs)}`,
    `  Dropped: ${summary.dropped === 0 ? "0" : `${whole(summary.dropped)} (${causes})`}`,
    `  Makespan: ${time(summary.makespanSeconds)}`,
  ];
}

function utilisationLines(summary: Summary, baseline: Summary | null): readonly string[] {
  const { utilisation, makespanSeconds, nodes, gpus } = summary;
  const available = (makespanSeconds * (gpus > 0 ? gpus : nodes)) / 3600;
  const unit = gpus > 0 ? "GPU-hours" : "Node-hours";
  const consumed = `  ${unit} consumed: ${whole(available * utilisation)} / ${whole(available)} available`;
  const first = `${consumed} (${percent(utilisation)})`;
  if (baseline === null) return [first];
  const points = Math.abs(utilisation - baseline.utilisation);
  const arrow = utilisation === baseline.utilisation ? "=" : utilisation > baseline.utilisation ? "↑" : "↓";
  return [first, `  ${arrow} ${percent(points)} vs ${baseline.name} (${percent(baseline.utilisation)})`];
}

const three = (value: number): string => value.toFixed(3);
