// Converts samples to the requested series: one per metric and node, or one per metric over all nodes, where shares are
// averaged and amounts are summed. Pure.

import { create } from "@bufbuild/protobuf";
import { pb, timestampFromMs } from "@lattice/wire";
import type { Sample } from "../../lead/telemetry/samples.ts";

/** The metrics of agents, with the unit to show and how values of several nodes are combined. */
export const MEASURED = {
  cpu_utilization: { unit: "percent", factor: 100, over: "mean" },
  memory_used: { unit: "bytes", factor: 1, over: "sum" },
  io_read_bytes: { unit: "bytes_per_second", factor: 1, over: "sum" },
  io_write_bytes: { unit: "bytes_per_second", factor: 1, over: "sum" },
} as const satisfies Record<string, { unit: string; factor: number; over: "mean" | "sum" }>;
type MeasuredName = keyof typeof MEASURED;

interface SeriesQuery {
  readonly mode: "summary" | "per_node";
  /** Empty for all. */
  readonly metrics: readonly string[];
  /** Samples of several nodes within one window are combined. */
  readonly windowMs: number;
}

export function seriesOf(samples: readonly Sample[], { mode, metrics, windowMs }: SeriesQuery): pb.MetricSeries[] {
  const names = (Object.keys(MEASURED) as MeasuredName[]).filter(
    (name) => metrics.length === 0 || metrics.includes(name),
  );
  const nodes = [...new Set(samples.map(({ node }) => node))].sort();
  return names.flatMap((name) => {
    const measured = samples.filter(({ values }) => values[name] !== undefined);
    if (measured.length === 0) return [];
    if (mode === "summary") return [series(name, "", combined(name, measured, windowMs))];
    return nodes.flatMap((node) => {
      const own = measured.filter((sample) => sample.node === node);
      return own.length === 0
        ? []
        : [
            series(
              name,
              node,
              own.map((sample) => [sample.at, shownValue(name, sample)]),
            ),
          ];
    });
  });
}

type Point = readonly [at: number, value: number];

/** Averages the samples of each node per window, then combines the nodes. */
function combined(name: MeasuredName, samples: readonly Sample[], windowMs: number): Point[] {
  const windows = new Map<number, Map<string, number[]>>();
  for (const sample of samples) {
    const start = Math.floor(sample.at / windowMs) * windowMs;
    const byNode = windows.get(start) ?? new Map<string, number[]>();
    byNode.set(sample.node, [...(byNode.get(sample.node) ?? []), shownValue(name, sample)]);
    windows.set(start, byNode);
  }
  return [...windows].map(([start, byNode]) => {
    const each = [...byNode.values()].map(mean);
    const total = each.reduce((sum, value) => sum + value, 0);
    return [start + windowMs, MEASURED[name].over === "mean" ? total / each.length : total] as const;
  });
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

export const shownValue = (name: string, { values }: Sample): number =>
  (values[name] ?? 0) * (MEASURED[name as MeasuredName]?.factor ?? 1);

const series = (name: MeasuredName, node: string, points: readonly Point[]): pb.MetricSeries =>
  create(pb.MetricSeriesSchema, {
    metric: name,
    unit: MEASURED[name].unit,
    node,
    points: points.map(([at, value]) => create(pb.MetricPointSchema, { at: timestampFromMs(at), value })),
  });
