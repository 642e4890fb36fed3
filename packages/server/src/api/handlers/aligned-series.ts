// Aligns the metrics of several allocations for comparison: cuts them to the time since their start (relative) or the
// wall-clock time (absolute) in which all of them were measured. An allocation without samples does not narrow the
// others. Pure.

import { type pb, timestampToMs } from "@lattice/wire";

export interface MeasuredLife {
  readonly startMs: number;
  readonly series: readonly pb.MetricSeries[];
}

export function alignedSeries(lives: readonly MeasuredLife[], align: "relative" | "absolute"): pb.MetricSeries[][] {
  const zeroOf = ({ startMs }: MeasuredLife): number => (align === "relative" ? startMs : 0);
  const spans = lives.flatMap((life) => {
    const times = life.series.flatMap(({ points }) => points.map((point) => timeOf(point) - zeroOf(life)));
    return times.length === 0 ? [] : [{ first: Math.min(...times), last: Math.max(...times) }];
  });
  // Relative series start at different samples, so only their ends are cut.
  const first = align === "relative" ? Number.NEGATIVE_INFINITY : Math.max(...spans.map((span) => span.first));
  const last = Math.min(...spans.map((span) => span.last));
  return lives.map((life) =>
    life.series.flatMap((series) => {
      const points = series.points.filter((point) => {
        const at = timeOf(point) - zeroOf(life);
        return at >= first && at <= last;
      });
      return points.length === 0 ? [] : [{ ...series, points }];
    }),
  );
}

const timeOf = ({ at }: pb.MetricPoint): number => (at === undefined ? 0 : timestampToMs(at));
