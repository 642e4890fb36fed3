// `lattice compare ID ID...`: metrics of several allocations side by side, each from its own start.

import type { ComparedAllocation, MetricSeries } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import type { Command } from "commander";
import { createContext } from "../context.ts";
import { eachToRead } from "../names/work-ids.ts";
import type { Column } from "../output/table.ts";
import { ABSENT, capitalise } from "../output/text.ts";
import { hoursMinutesSeconds } from "../output/time.ts";
import { amountText } from "./top/amount.ts";

/** The server's limits. */
const LEAST = 2;
const MOST = 10;

const wrongCount = (count: number): ProblemError =>
  new ProblemError("invalid_argument", {
    detail: `cannot compare ${count === 1 ? "one allocation" : `${count} allocations`}; name ${LEAST} to ${MOST}`,
    hint: "For example: lattice compare 12 13",
  });

export function define(command: Command): void {
  command
    .argument("<id...>", "two to ten allocations")
    .option("--metric <names>", "metrics, separated by commas", (text) => text.split(",").filter((one) => one !== ""))
    .option("--align <how>", "relative (from each start) or absolute (by the clock)")
    .action(async (words: readonly string[], flags: { metric?: readonly string[]; align?: string }) => {
      if (words.length < LEAST || words.length > MOST) throw wrongCount(words.length);
      const context = await createContext(command);
      const { client, print, settings } = context;
      const ids = await eachToRead(context, words);
      const found = await client.compare(ids, {
        ...(flags.metric === undefined ? {} : { metrics: flags.metric }),
        ...(flags.align === undefined ? {} : { align: flags.align }),
      });
      if (print.structured) return print.document(found);
      const rows = found.allocations ?? [];
      if (settings.quiet) return print.lines(rows.map(({ allocation_id }) => allocation_id));
      print.table(columns(rows), rows);
      if (found.unavailable_reason !== undefined) print.note(found.unavailable_reason);
    });
}

function columns(rows: readonly ComparedAllocation[]): readonly Column<ComparedAllocation>[] {
  const metrics = [...new Set(rows.flatMap(({ series = [] }) => series.map(({ metric }) => metric)))];
  return [
    { header: "ID", value: ({ allocation_id }) => allocation_id },
    { header: "NAME", value: ({ name }) => name || ABSENT, flexible: true },
    { header: "STATE", value: ({ state = "" }) => capitalise(state) },
    { header: "NODES", value: ({ nodes }) => String(nodes ?? 0), align: "right" },
    { header: "GPUS", value: ({ gpus }) => String(gpus ?? 0), align: "right" },
    { header: "ELAPSED", value: ({ elapsed_seconds }) => hoursMinutesSeconds(elapsed_seconds ?? 0) },
    { header: "ATTEMPT", value: ({ attempt }) => String(attempt ?? 0), align: "right" },
    ...metrics.map((metric) => ({
      header: metric.toUpperCase(),
      value: ({ series = [] }: ComparedAllocation) => meanText(series.find((one) => one.metric === metric)),
      align: "right" as const,
    })),
  ];
}

function meanText(series: MetricSeries | undefined): string {
  const values = (series?.points ?? []).map(({ value = 0 }) => value);
  if (values.length === 0) return ABSENT;
  return amountText(values.reduce((sum, value) => sum + value, 0) / values.length, series?.unit).join(" ");
}
