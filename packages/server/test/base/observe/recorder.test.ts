// The record of a server's metrics: bounded in time, series and points, with its start.

import { duration } from "@lattice/core";
import { pino } from "pino";
import { afterEach, expect, test } from "vitest";
import { COMPONENTS, type MetricsComponent } from "../../../src/base/observe/components.ts";
import { createMetrics } from "../../../src/base/observe/metrics.ts";
import {
  EVERY,
  MAX_POINTS,
  MAX_SAMPLES,
  MAX_SERIES,
  type Reading,
  startRecorder,
} from "../../../src/base/observe/recorder.ts";
import { createTestClock } from "../clock.ts";

const logger = pino({ level: "silent" });
const clock = createTestClock();
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function recorder(readings: () => Promise<readonly Reading[]>) {
  const one = startRecorder({ server: "s1", readings, clock, logger });
  closing.push(() => one.close());
  return one;
}

test("current values without a time, and points with one", async () => {
  const metrics = createMetrics();
  const one = recorder(metrics.readings);
  await one.sample();
  for (let n = 0; n < 4; n += 1) {
    metrics.rateLimited("a");
    await clock.advance(EVERY);
    await one.sample();
  }
  const name = "lattice_api_rate_limited_total";
  expect(one.read("api", null).series.find((found) => found.name === name)).toEqual({
    name,
    labels: { limit: "a" },
    value: 4,
    points: [],
  });
  const found = one.read("api", clock.now() - 2 * EVERY);
  expect(found.series.every((series) => series.name.startsWith("lattice_"))).toBe(true);
  expect(found.series.find((series) => series.name === name)?.points.map(({ value }) => value)).toEqual([3, 4]);
  expect(found).toMatchObject({ server: "s1", at: clock.now(), since: clock.now() - 4 * EVERY });
  // Everything of a scrape is included, histograms as well.
  expect(one.read(null, null).series.map((series) => series.name)).toContain("lattice_log_append_seconds_bucket");
  for (const part of Object.keys(COMPONENTS) as MetricsComponent[])
    expect(one.read(part, null).series, part).not.toEqual([]);
});

test("six hours are kept, with a limited number of points", async () => {
  let value = 0;
  const one = recorder(async () => {
    value += 1;
    return [{ name: "x", labels: {}, value }];
  });
  await one.sample();
  for (let n = 0; n < MAX_SAMPLES + 50; n += 1) {
    await clock.advance(EVERY);
    await one.sample();
  }
  const found = one.read(null, 0);
  expect(found.since).toBe(clock.now() - (MAX_SAMPLES - 1) * EVERY);
  const points = found.series[0]?.points ?? [];
  expect(points).toHaveLength(MAX_POINTS);
  expect(points.at(-1)).toEqual({ at: clock.now(), value });
  expect(points[1]?.value).toBe((points[0]?.value ?? 0) + MAX_SAMPLES / MAX_POINTS);
});

test("series that appear later, disappear, or exceed the limit", async () => {
  let names = ["a", "b"];
  const one = recorder(async () => names.map((name) => ({ name, labels: {}, value: 1 })));
  await one.sample();
  names = ["b", "c"];
  await clock.advance(EVERY);
  await one.sample();
  const pointsOf = (name: string) => one.read(null, 0).series.find((found) => found.name === name)?.points.length;
  expect([pointsOf("a"), pointsOf("b"), pointsOf("c")]).toEqual([undefined, 2, 1]);
  names = Array.from({ length: MAX_SERIES + 10 }, (_, n) => `n${n}`);
  await clock.advance(EVERY);
  await one.sample();
  expect([pointsOf("n0"), pointsOf(`n${MAX_SERIES + 9}`)]).toEqual([1, 0]);
});

test("a failed sample is retried at the next interval", async () => {
  let works = false;
  const one = recorder(async () => {
    if (!works) throw new Error("no");
    return [{ name: "x", labels: {}, value: 5 }];
  });
  await one.sample();
  expect(one.read(null, 0).series).toEqual([]);
  works = true;
  await clock.advance(duration(EVERY));
  await one.sample();
  expect(one.read(null, 0).series[0]?.value).toBe(5);
});
