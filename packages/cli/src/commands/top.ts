// `lattice top ID`: the resource usage of an allocation over the last minutes; without an id the running work of the
// cluster. Missing measurements are a note, not an error.

import type { MetricSeries, MetricsRequest } from "@lattice/sdk";
import { type Command, Option } from "commander";
import { type Context, createContext } from "../context.ts";
import { workToRead } from "../names/work-ids.ts";
import { repeatOnScreen } from "../output/repeat.ts";
import type { Column } from "../output/table.ts";
import { ABSENT } from "../output/text.ts";
import { parseDuration } from "../parse/duration.ts";
import { amountText } from "./top/amount.ts";
import { showCluster } from "./top/cluster.ts";
import { followMetrics } from "./top/follow.ts";

interface TopFlags {
  readonly perNode?: boolean;
  readonly perGpu?: boolean;
  readonly wide?: boolean;
  readonly metric?: readonly string[];
  readonly duration?: number;
  readonly stream?: boolean;
  readonly watch?: boolean;
}

const list = (text: string): readonly string[] => text.split(",").filter((word) => word !== "");

export function define(command: Command): void {
  command
    .argument("[id]", "allocation: its id, its name, or last (default: all running work)")
    .option("--per-node", "one row per node")
    .option("--per-gpu", "one row per GPU")
    .option("--wide", "all metrics, same as -o wide")
    .option("--metric <names>", "metrics, separated by commas", list)
    .addOption(new Option("--metrics <names>").argParser(list).hideHelp())
    .option("--duration <time>", "time range, such as 5m or 1h", parseDuration)
    .option("--stream", "follow, one line per measurement")
    .option("--watch", "without an id: repeat every 5 seconds until Ctrl-C")
    .action(async (word: string | undefined, flags: TopFlags & { readonly metrics?: readonly string[] }) => {
      const context = await createContext(command);
      if (word === undefined)
        return flags.watch === true ? repeatOnScreen(context.print, () => showCluster(context)) : showCluster(context);
      const id = await workToRead(context, word);
      const metrics = flags.metric ?? flags.metrics ?? [];
      if (flags.stream === true) return followMetrics(context, id, { metrics });
      const mode = flags.perGpu === true ? "per_gpu" : flags.perNode === true ? "per_node" : "summary";
      await show(context, id, {
        mode,
        ...(metrics.length === 0 ? {} : { metrics }),
        ...(flags.duration === undefined ? {} : { duration_seconds: flags.duration }),
      });
    });
}

async function show({ client, print }: Context, id: string, query: MetricsRequest): Promise<void> {
  const answer = await client.metrics(id, query);
  if (print.structured) return print.document(answer);
  const series = answer.series ?? [];
  if (series.length > 0) print.table(columns(query.mode ?? "summary"), series);
  if (answer.unavailable_reason !== undefined) print.note(answer.unavailable_reason);
}

function columns(mode: NonNullable<MetricsRequest["mode"]>): readonly Column<MetricSeries>[] {
  const where: Column<MetricSeries>[] = [];
  if (mode !== "summary") where.push({ header: "NODE", value: ({ node }) => node ?? ABSENT, flexible: true });
  if (mode === "per_gpu") where.push({ header: "GPU", value: ({ gpu }) => String(gpu ?? ABSENT), align: "right" });
  return [
    ...where,
    { header: "METRIC", value: ({ metric }) => metric },
    { header: "VALUE", value: ({ points, unit }) => amountText(points?.at(-1)?.value, unit)[0], align: "right" },
    { header: "UNIT", value: ({ points, unit }) => amountText(points?.at(-1)?.value, unit)[1] },
  ];
}
