// `rm-replay --compare DIR...` without a trace: compares earlier results.

import { reportHtml } from "../report/report.ts";
import { writeFiles } from "../report/write.ts";
import { readSummary } from "../result/json.ts";
import { comparisonText, summaryText } from "../result/text.ts";
import type { Streams } from "../streams.ts";
import { checkOutput } from "./inputs.ts";

/** The first folder is the baseline. */
export function compareResults(folders: readonly string[], output: string | null, { out }: Streams): void {
  checkOutput(output ?? undefined);
  const summaries = folders.map(readSummary);
  const [baseline = null, ...others] = summaries;
  if (baseline === null) return;
  out.write(comparisonText(summaries));
  for (const summary of others) out.write(`\n${summaryText(summary, baseline)}`);
  if (output !== null) writeFiles(output, [["report.html", reportHtml(summaries)]]);
}
