// Writes the results into a folder, which is made if it is not there. Files of those names are replaced.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Outcome } from "../policy/policy.ts";
import { allocationsCsv, summaryJson } from "./render.ts";
import type { Summary } from "./summary.ts";

export function writeResults(folder: string, summary: Summary, outcomes: readonly Outcome[]): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "summary.json"), summaryJson(summary));
  writeFileSync(join(folder, "allocations.csv"), allocationsCsv(outcomes));
}
