// The report of a run: a table for people, and one line of JSON for programs.
import type { Verdict, Violation } from "./check/check.ts";
import type { History } from "./history.ts";

export interface Report {
  readonly seed: number;
  readonly seconds: number;
  readonly faults: readonly { readonly name: string; readonly seconds: number; readonly expected: boolean }[];
  readonly submissions: { readonly acknowledged: number; readonly unanswered: number; readonly retried: number };
  readonly starts: number;
  readonly entries: number;
  readonly commands: number;
  readonly elections: number;
  readonly requeues: number;
  readonly violations: readonly Violation[];
}

export interface ReportParts {
  readonly history: History;
  readonly verdict: Verdict;
  readonly seed: number;
  readonly seconds: number;
}

/** A broken chain may repeat the same violation hundreds of times. */
const MAX_SHOWN = 40;

export function reportOf({ history, verdict, seed, seconds }: ReportParts): Report {
  const { submissions } = history;
  return {
    seed,
    seconds,
    faults: history.faults.map(({ name, seconds: took, complaints }) => ({
      name,
      seconds: took,
      expected: complaints.length === 0,
    })),
    submissions: {
      acknowledged: submissions.filter(({ id }) => id !== null).length,
      unanswered: submissions.filter(({ id }) => id === null).length,
      retried: submissions.filter(({ tries }) => tries > 1).length,
    },
    starts: history.runs.length,
    entries: history.log.length,
    ...verdict.counts,
    violations: verdict.violations,
  };
}

export function describeReport(report: Report): string {
  const { submissions, violations } = report;
  const width = Math.max(...report.faults.map(({ name }) => name.length), 0);
  const shown = violations.slice(0, MAX_SHOWN).map(({ rule, detail }) => `VIOLATED ${rule}: ${detail}`);
  const more = violations.length - shown.length;
  return [
    "",
    ...report.faults.map(
      ({ name, seconds, expected }) =>
        `  ${name.padEnd(width)}  ${seconds.toFixed(1).padStart(6)} s  ${expected ? "as expected" : "NOT AS EXPECTED"}`,
    ),
    "",
    `  submissions  ${submissions.acknowledged} acknowledged, ${submissions.retried} of all asked more than once, ${submissions.unanswered} never answered`,
    `  log          ${report.entries} entries, ${report.commands} commands, ${report.elections} elections, ${report.requeues} requeues`,
    `  processes    ${report.starts} started`,
    `  violations   ${violations.length}`,
    "",
    ...shown,
    ...(more > 0 ? [`... and ${more} more`] : []),
  ].join("\n");
}
