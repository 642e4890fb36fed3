// `rm-replay check`: compares the regression traces with their thresholds.

import { runRegression } from "../regression/run.ts";
import { DEFAULT_JOBS, REGRESSION_NAMES, type RegressionName } from "../regression/traces.ts";
import { table } from "../result/text.ts";
import type { Streams } from "../streams.ts";

export interface CheckOptions {
  readonly seed: number;
  readonly jobs?: number;
}

/** Returns whether all passed. */
export function checkRegressions(names: readonly RegressionName[], options: CheckOptions, { out }: Streams): boolean {
  const rows: string[][] = [["trace", "metric", "value", "mark", ""]];
  let passed = true;
  for (const name of names.length === 0 ? REGRESSION_NAMES : names) {
    for (const mark of runRegression(name, { seed: options.seed, jobs: options.jobs ?? DEFAULT_JOBS })) {
      rows.push([name, mark.name, mark.shown, mark.mark, mark.pass ? "pass" : "FAIL"]);
      passed &&= mark.pass;
    }
  }
  out.write(table(rows));
  return passed;
}
