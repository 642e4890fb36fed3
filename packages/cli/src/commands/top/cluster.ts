// `lattice top` without an id: how busy the nodes are, what runs, and how much of its nodes it uses.

import type { Allocation, MetricSeries, Node } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import type { Context } from "../../context.ts";
import type { Column } from "../../output/table.ts";
import { ABSENT, capitalise } from "../../output/text.ts";
import { elapsed } from "../status/table.ts";
import { amountText } from "./amount.ts";

/** Rows on one screen, and requests for measurements in one round. */
const MAX_ROWS = 20;

interface Row {
  readonly allocation: Allocation;
  readonly series: readonly MetricSeries[];
}

export async function showCluster(context: Context): Promise<void> {
  const { client, print } = context;
  const [nodes, running, pending] = await Promise.all([
    nodesOf(context),
    client.list({ state: ["running", "checkpointing"], page_size: MAX_ROWS, expand: true }),
    client.list({ state: ["pending"], page_size: 1, expand: true }),
  ]);
  const { allocations = [], total = 0 } = running;
  const rows = await Promise.all(allocations.map((allocation) => measured(context, allocation)));
  if (print.structured) {
    const shown = rows.map(({ allocation, series }) => ({ ...allocation, metrics: series }));
    return print.document({ nodes: countsOf(nodes), running: total, pending: pending.total ?? 0, allocations: shown });
  }
  print.lines([nodesText(nodes), `Work: ${total} running, ${pending.total ?? 0} pending.`, ""]);
  print.table(columns(Date.now()), rows);
  if (total > rows.length) print.note(`Showing ${rows.length} of ${total}; see also: lattice status --state=running`);
}

async function nodesOf({ client, settings }: Context): Promise<readonly Node[]> {
  const nodes: Node[] = [];
  for await (const node of client.nodes.listAll(settings.named)) nodes.push(node);
  return nodes;
}

/** Work that has just ended has no metrics. */
async function measured({ client }: Context, allocation: Allocation): Promise<Row> {
  try {
    const { series = [] } = await client.metrics(allocation.id, { mode: "summary" });
    return { allocation, series };
  } catch (error) {
    if (error instanceof ProblemError) return { allocation, series: [] };
    throw error;
  }
}

interface NodeCounts {
  readonly total: number;
  readonly busy: number;
  readonly idle: number;
  readonly other: Readonly<Record<string, number>>;
}

function countsOf(nodes: readonly Node[]): NodeCounts {
  const ready = nodes.filter(({ state }) => state === "ready");
  const busy = ready.filter(({ claims }) => (claims ?? []).length > 0).length;
  const other: Record<string, number> = {};
  for (const { state } of nodes) if (state !== "ready") other[state] = (other[state] ?? 0) + 1;
  return { total: nodes.length, busy, idle: ready.length - busy, other };
}

/** Returns "Nodes: 4, of which 1 busy, 2 idle, 1 draining.". */
function nodesText(nodes: readonly Node[]): string {
  const { total, busy, idle, other } = countsOf(nodes);
  const parts = [`${busy} busy`, `${idle} idle`, ...Object.entries(other).map(([state, count]) => `${count} ${state}`)];
  return `Nodes: ${total}, of which ${parts.join(", ")}.`;
}

const columns = (now: number): readonly Column<Row>[] => [
  { header: "ID", value: ({ allocation }) => allocation.id },
  { header: "NAME", value: ({ allocation }) => allocation.spec?.name ?? ABSENT, flexible: true },
  { header: "USER", value: ({ allocation }) => allocation.user ?? ABSENT },
  { header: "STATE", value: ({ allocation }) => capitalise(allocation.state) },
  { header: "ELAPSED", value: ({ allocation }) => elapsed(allocation, now) },
  { header: "NODES", value: ({ allocation }) => (allocation.nodes ?? []).join(",") || ABSENT, flexible: true },
  { header: "CPU", value: ({ series }) => latest(series, "cpu_utilization"), align: "right" },
  { header: "MEMORY", value: ({ series }) => latest(series, "memory_used"), align: "right" },
  { header: "GPU", value: ({ series }) => latest(series, "gpu_utilization"), align: "right" },
];

function latest(series: readonly MetricSeries[], metric: string): string {
  const found = series.find((one) => one.metric === metric);
  const value = found?.points?.at(-1)?.value;
  return value === undefined ? ABSENT : amountText(value, found?.unit).join(" ").trim();
}
