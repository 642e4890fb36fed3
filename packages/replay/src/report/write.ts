// Writes the results into a folder, which is created if necessary. All contents are built before the first file is
// written, so that an error leaves nothing behind. Existing files are replaced.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Outcomes } from "../policy/base/policy.ts";
import { allocationsCsv } from "../result/csv.ts";
import { SUMMARY_FILE, summaryJson } from "../result/json.ts";
import type { Summary } from "../result/summary.ts";
import type { Trace } from "../trace/trace.ts";
import { reportHtml } from "./report.ts";

interface Results {
  readonly trace: Trace;
  readonly outcomes: Outcomes;
  readonly summary: Summary;
  /** Results to compare with in the report. */
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
