// Samples as the series that are asked for: one for each metric and node, or one for each metric over all nodes, where
// shares are averaged and amounts added up. Pure.

import { create } from "@bufbuild/protobuf";
import { pb, timestampFromMs } from "@lattice/wire";
import type { Sample } from "../../lead/telemetry/samples.ts";

/** What agents tell, in which unit it is shown, and how that of several nodes becomes one. */
export const MEASURED = {
  cpu_utilization: { unit: "percent", factor: 100, over: "mean" },
  memory_used: { unit: "bytes", factor: 1, over: "sum" },
  io_read_bytes: { unit: "bytes_per_second", factor: 1, over: "sum" },
  io_write_bytes: { unit: "bytes_per_second", factor: 1, over: "sum" },
} as const satisfies Record<string, { unit: string; factor: number; over: "mean" | "sum" }>;
type MeasuredName = keyof typeof MEASURED;

export interface SeriesAsked {
  readonly mode: "summary" | "per_node";
  /** Empty: all. */
  readonly metrics: readonly string[];
  /** Over which samples of several nodes are taken together. */
  readonly windowMs: number;
}

export function seriesOf(samples: readonly Sample[], { mode, metrics, windowMs }: SeriesAsked): pb.MetricSeries[] {
  const names = (Object.keys(MEASURED) as MeasuredName[]).filter(
    (name) => metrics.length === 0 || metrics.includes(name),
  );
  const nodes = [...new Set(samples.map(({ node }) => node))].sort();
  return names.flatMap((name) => {
    const told = samples.filter(({ values }) => values[name] !== undefined);
    if (told.length === 0) return [];
    if (mode === "summary") return [series(name, "", overall(name, told, windowMs))];
    return nodes.flatMap((node) => {
      const own = told.filter((sample) => sample.node === node);
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

/** Of every window: the mean of each node's samples, and these taken together. */
function overall(name: MeasuredName, samples: readonly Sample[], windowMs: number): Point[] {
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
