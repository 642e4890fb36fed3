// What a server remembers of its counters: every look, bounded in time, series and points, and honest about where it begins.

import { duration } from "@lattice/core";
import { pino } from "pino";
import { afterEach, expect, test } from "vitest";
import { COMPONENTS, type MetricsComponent } from "../../../src/base/observe/components.ts";
import { createMetrics } from "../../../src/base/observe/metrics.ts";
import {
  EVERY,
  MOST_LOOKS,
  MOST_POINTS,
  MOST_SERIES,
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

test("values of now without a time, and how they came about with one", async () => {
  const metrics = createMetrics();
  const one = recorder(metrics.readings);
  await one.look();
  for (let n = 0; n < 4; n += 1) {
    metrics.rateLimited("a");
    await clock.advance(EVERY);
    await one.look();
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
  // All that a scrape shows is there, histograms as well.
  expect(one.read(null, null).series.map((series) => series.name)).toContain("lattice_log_append_seconds_bucket");
  for (const part of Object.keys(COMPONENTS) as MetricsComponent[])
    expect(one.read(part, null).series, part).not.toEqual([]);
});

test("six hours, and so many points of them", async () => {
  let value = 0;
  const one = recorder(async () => {
    value += 1;
    return [{ name: "x", labels: {}, value }];
  });
  await one.look();
  for (let n = 0; n < MOST_LOOKS + 50; n += 1) {
    await clock.advance(EVERY);
    await one.look();
  }
  const found = one.read(null, 0);
  expect(found.since).toBe(clock.now() - (MOST_LOOKS - 1) * EVERY);
  const points = found.series[0]?.points ?? [];
  expect(points).toHaveLength(MOST_POINTS);
  expect(points.at(-1)).toEqual({ at: clock.now(), value });
  expect(points[1]?.value).toBe((points[0]?.value ?? 0) + MOST_LOOKS / MOST_POINTS);
});

test("a series that comes later, one that goes, and more of them than are remembered", async () => {
  let names = ["a", "b"];
  const one = recorder(async () => names.map((name) => ({ name, labels: {}, value: 1 })));
  await one.look();
  names = ["b", "c"];
  await clock.advance(EVERY);
  await one.look();
  const pointsOf = (name: string) => one.read(null, 0).series.find((found) => found.name === name)?.points.length;
  expect([pointsOf("a"), pointsOf("b"), pointsOf("c")]).toEqual([undefined, 2, 1]);
  names = Array.from({ length: MOST_SERIES + 10 }, (_, n) => `n${n}`);
  await clock.advance(EVERY);
  await one.look();
  expect([pointsOf("n0"), pointsOf(`n${MOST_SERIES + 9}`)]).toEqual([1, 0]);
});

test("what cannot be read is tried again at the next look", async () => {
  let works = false;
  const one = recorder(async () => {
    if (!works) throw new Error("no");
    return [{ name: "x", labels: {}, value: 5 }];
  });
  await one.look();
  expect(one.read(null, 0).series).toEqual([]);
  works = true;
  await clock.advance(duration(EVERY));
  await one.look();
  expect(one.read(null, 0).series[0]?.value).toBe(5);
});
