// Records the metrics of this server for some hours, so that an incident can be examined without a time-series store.
// Sampled at an interval, in memory, with bounded points and series; lost with a restart.

import { type Duration, duration, type Instant, instant } from "@lattice/core";
import type { Logger } from "pino";
import { type Clock, sleep } from "../clock.ts";
import { COMPONENTS, type MetricsComponent } from "./components.ts";

export interface Reading {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface RecordedSeries extends Reading {
  /** Oldest first; the last is the current value. */
  readonly points: readonly { readonly at: number; readonly value: number }[];
}

export interface Recorded {
  readonly server: string;
  readonly startedAt: Instant;
  /** The time of the newest sample. */
  readonly at: Instant;
  readonly since: Instant;
  readonly series: readonly RecordedSeries[];
}

export interface Recorder {
  /** Takes a sample now. */
  sample(): Promise<void>;
  /** Returns one component or all, with the points after `after`; `null` for the newest values only. */
  read(component: MetricsComponent | null, after: number | null): Recorded;
  close(): Promise<void>;
}

export const EVERY = duration(30_000);
/** Six hours. */
export const MAX_SAMPLES = 720;
/** At 8 bytes per point, about 14 MB for six hours of all series. */
export const MAX_SERIES = 2_500;
/** Per series and answer; a longer time has a lower resolution. */
export const MAX_POINTS = 120;
/** Samples closer than this are skipped. */
const MIN_INTERVAL_MS = 100;

interface Parts {
  readonly server: string;
  readonly readings: () => Promise<readonly Reading[]>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly every?: Duration;
}

interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** By the slot of the sample; NaN when the series was absent. */
  readonly values: Float64Array;
}

export function startRecorder({ server, readings, clock, logger, every = EVERY }: Parts): Recorder {
  const series = new Map<string, Series>();
  /** The time of each sample by slot; a ring buffer. */
  const times = new Float64Array(MAX_SAMPLES);
  let samples = 0;
  let newest: readonly Reading[] = [];
  const startedAt = clock.now();
  let sampling: Promise<void> = Promise.resolve();
  const stop = new AbortController();
  const done = run();

  return {
    sample() {
      sampling = sampling.then(sample);
      return sampling;
    },
    read: (component, after) => ({
      server,
      startedAt,
      at: timeOf(samples - 1),
      since: timeOf(Math.max(0, samples - MAX_SAMPLES)),
      series: newest
        .filter(({ name }) => component === null || COMPONENTS[component].test(name))
        .map((reading) => ({ ...reading, points: after === null ? [] : pointsOf(reading, after) })),
    }),
    async close() {
      stop.abort();
      await done;
    },
  };

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      sampling = sampling.then(sample);
      await sampling;
      await sleep(clock, every, stop.signal);
    }
  }

  async function sample(): Promise<void> {
    const at = clock.now();
    if (samples > 0 && at - timeOf(samples - 1) < MIN_INTERVAL_MS) return;
    try {
      newest = await readings();
    } catch (error) {
      logger.warn({ err: error }, "metrics sample failed");
      return;
    }
    const slot = samples % MAX_SAMPLES;
    times[slot] = at;
    samples += 1;
    for (const { values } of series.values()) values[slot] = Number.NaN;
    for (const reading of newest) store(reading, slot);
  }

  function store({ name, labels, value }: Reading, slot: number): void {
    const key = keyOf(name, labels);
    const target = series.get(key) ?? addSeries(key, name, labels);
    if (target !== null) target.values[slot] = value;
  }

  function addSeries(key: string, name: string, labels: Reading["labels"]): Series | null {
    if (series.size >= MAX_SERIES) return null;
    const added = { name, labels, values: new Float64Array(MAX_SAMPLES).fill(Number.NaN) };
    series.set(key, added);
    return added;
  }

  function timeOf(n: number): Instant {
    return instant(times[Math.max(0, n) % MAX_SAMPLES] ?? 0);
  }

  function pointsOf({ name, labels }: Reading, after: number): RecordedSeries["points"] {
    const values = series.get(keyOf(name, labels))?.values;
    if (values === undefined) return [];
    const points: { at: number; value: number }[] = [];
    for (let n = Math.max(0, samples - MAX_SAMPLES); n < samples; n += 1) {
      const value = values[n % MAX_SAMPLES] ?? Number.NaN;
      if (timeOf(n) > after && !Number.isNaN(value)) points.push({ at: timeOf(n), value });
    }
    // Counted from the newest, which is always included.
    const step = Math.ceil(points.length / MAX_POINTS);
    return points.filter((_, n) => (points.length - 1 - n) % step === 0);
  }
}

const keyOf = (name: string, labels: Reading["labels"]): string => `${name}${JSON.stringify(labels)}`;
