// `rm-replay`: replays one trace under one policy.

import { basename, resolve } from "node:path";
import { choosePolicy, type PolicyName } from "../policy/choose.ts";
import { progressOn } from "../progress.ts";
import { writeResults } from "../report/write.ts";
import { readSummary } from "../result/json.ts";
import { summarise } from "../result/summary.ts";
import { comparisonText, summaryText } from "../result/text.ts";
import type { Streams } from "../streams.ts";
import { withPerfectEstimates } from "../trace/trace.ts";
import { whole } from "../words/amounts.ts";
import { checkOutput, type InputOptions, readInputs } from "./inputs.ts";

export interface ReplayOptions extends InputOptions {
  readonly policy: PolicyName;
  readonly perfect?: boolean;
  readonly compare?: readonly string[];
  readonly output?: string;
}

export async function replayTrace(options: ReplayOptions, { out, err }: Streams): Promise<void> {
  const begin = performance.now();
  checkOutput(options.output);
  const beside = (options.compare ?? []).map(readSummary);
  const inputs = await readInputs(options);
  const perfect = options.perfect === true;
  const chosen = choosePolicy(
    options.policy,
    perfect ? withPerfectEstimates(inputs.trace) : inputs.trace,
    inputs.setup,
  );
  for (const warning of [...inputs.warnings, ...chosen.warnings]) err.write(`rm-replay: note: ${warning}\n`);
  const { trace, policy, gpus } = chosen;

  const read = performance.now();
  const progress = progressOn(err, trace.count);
  const outcomes = policy(trace, progress.update);
  progress.end();
  const replayed = performance.now();

  const name = options.output === undefined ? options.policy : basename(resolve(options.output));
  const summary = summarise({ name, policy: options.policy, perfect, gpus }, trace, outcomes);
  out.write(summaryText(summary, beside[0] ?? null));
  if (beside.length > 0) out.write(`\n${comparisonText([...beside, summary])}`);
  if (options.output !== undefined) writeResults(options.output, { trace, outcomes, summary, beside });
  err.write(`rm-replay: ${speed(trace.count, { read: read - begin, replayed: replayed - read })}\n`);
}

/** The only figures that differ between equal runs, so they are not part of the results. */
function speed(jobs: number, ms: { readonly read: number; readonly replayed: number }): string {
  const perSecond = whole((jobs / Math.max(0.001, ms.replayed)) * 1000);
  const seconds = (value: number): string => (value / 1000).toFixed(3);
  return `${whole(jobs)} jobs read in ${seconds(ms.read)} s, replayed in ${seconds(ms.replayed)} s (${perSecond} jobs/s)`;
}
