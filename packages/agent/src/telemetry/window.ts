// The values of metrics over one window. Every reading goes into a mergeable sketch, so that quantiles over many windows
// and nodes are those of all readings; the mean weighs each reading with its time, so that it is exact for rates.

import { addValue, emptySketch, type Sketch } from "@lattice/core";

export interface OpenMetric {
  readonly sketch: Sketch;
  weighted: number;
  weight: number;
}

export function addReadings(
  window: Map<string, OpenMetric>,
  values: Readonly<Record<string, number>>,
  overMs: number,
): void {
  const weight = Math.max(1, overMs);
  for (const [name, value] of Object.entries(values)) {
    if (!Number.isFinite(value)) continue;
    let metric = window.get(name);
    if (metric === undefined) {
      metric = { sketch: emptySketch(), weighted: 0, weight: 0 };
      window.set(name, metric);
    }
    addValue(metric.sketch, value);
    metric.weighted += Math.max(0, value) * weight;
    metric.weight += weight;
  }
}

/** Returns the sketches, each with the sum that gives its exact mean. */
export function closedMetrics(window: ReadonlyMap<string, OpenMetric>): ReadonlyMap<string, Sketch> {
  const closed = Array.from(window, ([name, { sketch, weighted, weight }]) => {
    const sum = (weighted / weight) * sketch.count;
    return [name, { ...sketch, sum }] as const;
  });
  return new Map(closed);
}
