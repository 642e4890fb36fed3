// Generates a regression trace, replays it through the real scheduler and compares it with its thresholds.

import { choosePolicy } from "../policy/choose.ts";
import { summarise } from "../result/summary.ts";
import { parseJsonLines } from "../trace/json-lines.ts";
import { traceOf } from "../trace/rows.ts";
import { type Mark, marksOf } from "./thresholds.ts";
import { type MakeOptions, makeTrace, type RegressionName } from "./traces.ts";
import { traceText } from "./workload.ts";

export function runRegression(name: RegressionName, options: MakeOptions): readonly Mark[] {
  const rows = parseJsonLines(Buffer.from(traceText(makeTrace(name, options))), Number.POSITIVE_INFINITY);
  const setup = { inventory: null, profiles: null, unit: 1 };
  const { trace, policy } = choosePolicy("lattice", traceOf(rows, rows.nodes ?? 1), setup);
  const outcomes = policy(trace, () => {});
  const summary = summarise({ name, policy: "lattice", perfect: false, gpus: 0 }, trace, outcomes);
  return marksOf(name, { trace, outcomes, summary });
}
