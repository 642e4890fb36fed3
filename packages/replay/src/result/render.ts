// The summary for people, for programs (summary.json) and the table of allocations (CSV). Everything is
// on the trace's own clock, in seconds, so that equal replays give equal bytes.

import type { Outcome } from "../policy/policy.ts";
import type { Summary } from "./summary.ts";

export function summaryText(summary: Summary): string {
  const { noSize, noRunTime, tooLarge } = summary.droppedBecause;
  const causes = `no size ${noSize}, no run time ${noRunTime}, larger than the machine ${tooLarge}`;
  const rows: [string, string][] = [
    ["Policy", summary.policy],
    ["Nodes", String(summary.nodes)],
    ["Jobs", String(summary.jobs)],
    ["Dropped", summary.dropped === 0 ? "0" : `${summary.dropped} (${causes})`],
    ["Makespan", inWords(summary.makespanSeconds)],
    ["Utilisation", `${(summary.utilisation * 100).toFixed(1)} %`],
    ["Wait, mean", inWords(summary.wait.mean)],
    ["Wait, median", inWords(summary.wait.median)],
    ["Wait, p95", inWords(summary.wait.p95)],
    ["Wait, p99", inWords(summary.wait.p99)],
    ["Bounded slowdown, mean", summary.meanBoundedSlowdown.toFixed(3)],
    ["Backfilled", String(summary.backfilled)],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join("");
}

export function summaryJson(summary: Summary): string {
  const { wait, droppedBecause } = summary;
  const fields = {
    policy: summary.policy,
    nodes: summary.nodes,
    jobs: summary.jobs,
    dropped: summary.dropped,
    dropped_because: {
      no_size: droppedBecause.noSize,
      no_run_time: droppedBecause.noRunTime,
      too_large: droppedBecause.tooLarge,
    },
    makespan_seconds: rounded(summary.makespanSeconds),
    utilisation: rounded(summary.utilisation, 6),
    wait_seconds: {
      mean: rounded(wait.mean),
      median: rounded(wait.median),
      p95: rounded(wait.p95),
      p99: rounded(wait.p99),
    },
    mean_bounded_slowdown: rounded(summary.meanBoundedSlowdown, 6),
    backfilled: summary.backfilled,
  };
  return `${JSON.stringify(fields, null, 2)}\n`;
}

export function allocationsCsv(outcomes: readonly Outcome[]): string {
  const lines = outcomes.map(({ job, start, end, backfilled }) =>
    [
      cell(job.id),
      cell(job.user),
      ...[job.submit, start, end, job.nodes, start - job.submit].map(seconds),
      backfilled,
    ].join(","),
  );
  return `${["id,user,submit,start,end,nodes,wait,backfilled", ...lines].join("\n")}\n`;
}

const rounded = (value: number, digits = 3): number => Number(value.toFixed(digits));

const seconds = (value: number): string => String(rounded(value));

const cell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** "12.3 s", "4.5 min", "2.1 h", "3.0 d". */
function inWords(value: number): string {
  if (value < 60) return `${value.toFixed(1)} s`;
  if (value < 3600) return `${(value / 60).toFixed(1)} min`;
  return value < 172_800 ? `${(value / 3600).toFixed(1)} h` : `${(value / 86_400).toFixed(1)} d`;
}
