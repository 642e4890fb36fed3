// `lattice submit --dry-run`: where and when it would start, by the real scheduler. Nothing is submitted.

import type { PlanAnswer } from "@lattice/sdk";
import type { Context } from "../../context.ts";
import { clean } from "../../output/text.ts";
import { localTime } from "../../output/time.ts";
import { soonerLines } from "../why/sooner.ts";

export async function showPlan({ print, settings }: Context, planned: PlanAnswer): Promise<void> {
  if (!settings.quiet) for (const warning of planned.warnings ?? []) print.warn(warning);
  if (print.structured) return print.document(planned);
  const [answer, ...rest] = planLines(planned);
  print.lines(settings.quiet ? [answer ?? ""] : [answer ?? "", ...rest, "Nothing was submitted."]);
}

export function planLines(planned: PlanAnswer): string[] {
  const { nodes = [], causes = [], position = 0, queue_length = 0, would_preempt = [], sooner = [] } = planned;
  const on = nodes.length === 0 ? "" : ` on ${nodes.map(clean).join(", ")}`;
  const lines = [startText(planned) + on];
  for (const { text } of causes) lines.push(`  ${clean(text)}`);
  if (planned.starts_now !== true && position > 0)
    lines.push(`  It would be number ${position} of ${queue_length} in the queue.`);
  for (const { allocation_id, user, nodes: count = 0 } of would_preempt) {
    const whose =
      allocation_id === undefined
        ? "another's work"
        : `${allocation_id}${user === undefined ? "" : ` of ${clean(user)}`}`;
    lines.push(`  It would preempt ${whose} on ${count} nodes.`);
  }
  if (sooner.length > 0) lines.push("Sooner:", ...soonerLines(sooner).map((line) => `  ${line}`));
  return lines;
}

function startText({ starts_now, backfilled, estimated_start, start_reserved }: PlanAnswer): string {
  if (starts_now === true) return backfilled === true ? "Would start now, by backfill" : "Would start now";
  if (estimated_start !== undefined) {
    return `Would start at about ${localTime(estimated_start)}${start_reserved === true ? " (reserved)" : ""}`;
  }
  return "Would wait; when it could start is not known";
}
