// Writes the results into a folder, which is made if it is not there. Everything is made before the
// first file is touched, so that a refusal leaves nothing behind. Files of those names are replaced.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Outcomes } from "../policy/policy.ts";
import { reportHtml } from "../report/report.ts";
import type { Trace } from "../trace/trace.ts";
import { allocationsCsv } from "./csv.ts";
import { SUMMARY_FILE, summaryJson } from "./json.ts";
import type { Summary } from "./summary.ts";

export interface Results {
  readonly trace: Trace;
  readonly outcomes: Outcomes;
  readonly summary: Summary;
  /** To stand beside it in the report. */
  readonly beside: readonly Summary[];
}

export function writeResults(folder: string, { trace, outcomes, summary, beside }: Results): void {
  writeFiles(folder, [
    [SUMMARY_FILE, summaryJson(summary)],
    ["allocations.csv", allocationsCsv(trace, outcomes)],
    ["report.html", reportHtml([summary, ...beside])],
  ]);
}

export function writeFiles(folder: string, files: readonly (readonly [name: string, text: string])[]): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of files) writeFileSync(join(folder, name), text);
}
