// What was measured of several allocations, cut to what can be compared: the part of their lives, counted from the start
// of each, that was measured of all of them, or the time by the clock in which all of them were. One of which nothing was
// measured does not narrow the others. Pure.

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
  // From their starts: the beginning of each may have been seen a little later than that of another.
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
