// Alignment of the metrics of several allocations: by time since start, or by wall-clock time.

import { create } from "@bufbuild/protobuf";
import { pb, timestampFromMs, timestampToMs } from "@lattice/wire";
import { describe, expect, test } from "vitest";
import { alignedSeries, type MeasuredLife } from "../../src/api/handlers/aligned-series.ts";
import { metricNames } from "../../src/api/handlers/metric-names.ts";

const life = (startMs: number, ...times: number[]): MeasuredLife => ({
  startMs,
  series: times.length === 0 ? [] : [seriesAt(times)],
});
const seriesAt = (times: readonly number[]): pb.MetricSeries =>
  create(pb.MetricSeriesSchema, {
    metric: "cpu_utilization",
    points: times.map((at) => create(pb.MetricPointSchema, { at: timestampFromMs(at), value: at })),
  });
const timesOf = (found: pb.MetricSeries[][]) =>
  found.map((all) => all.flatMap(({ points }) => points.map(({ at }) => (at === undefined ? -1 : timestampToMs(at)))));

describe("aligned", () => {
  const early = life(1_000, 2_000, 3_000, 4_000, 5_000);
  const late = life(3_000, 4_000, 5_000);
  test("relative to each start, up to the shortest", () => {
    expect(timesOf(alignedSeries([early, late], "relative"))).toEqual([
      [2_000, 3_000],
      [4_000, 5_000],
    ]);
  });
  test("by wall-clock time, while all were measured", () => {
    expect(timesOf(alignedSeries([early, late], "absolute"))).toEqual([
      [4_000, 5_000],
      [4_000, 5_000],
    ]);
    expect(timesOf(alignedSeries([early, life(9_000, 9_500)], "absolute"))).toEqual([[], []]);
  });
  test("an allocation without samples does not narrow the others", () => {
    expect(timesOf(alignedSeries([late, life(0)], "relative"))).toEqual([[4_000, 5_000], []]);
    expect(alignedSeries([life(0), life(0)], "absolute")).toEqual([[], []]);
  });
});

test("metrics have aliases", () => {
  expect(metricNames(["gpu_util", "network_rx", "memory_used"])).toEqual([
    "gpu_utilization",
    "network_rx_bytes",
    "memory_used",
  ]);
  for (const wrong of ["luck", "toString", ""]) expect(() => metricNames([wrong])).toThrow();
});
