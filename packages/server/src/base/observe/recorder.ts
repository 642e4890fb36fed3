// Records the metrics of this server for some hours, so that an incident can be examined without a time-series store.
// Sampled at an interval, in memory, with bounded points and series; lost with a restart.

import { type Duration, duration, type Instant } from "@lattice/core";
import type { Logger } from "pino";
import { type Clock, sleep } from "../clock.ts";
import { COMPONENTS, type MetricsComponent } from "./components.ts";

export interface Reading {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface RecordedSeries extends Reading {
  /** Oldest first; the last is the value of now. */
  readonly points: readonly { readonly at: number; readonly value: number }[];
}

export interface Recorded {
  readonly server: string;
  readonly startedAt: Instant;
  /** When it was looked last. */
  readonly at: Instant;
  readonly since: Instant;
  readonly series: readonly RecordedSeries[];
}

export interface Recorder {
  /** Looks now, out of turn. */
  look(): Promise<void>;
  /** Of one part or all, with what was seen after `after`; null: the newest values alone. */
  read(component: MetricsComponent | null, after: number | null): Recorded;
  close(): Promise<void>;
}

export const EVERY = duration(30_000);
/** Six hours. */
export const MOST_LOOKS = 720;
/** At 8 bytes a point, about 14 MB when all of them are there for six hours. */
export const MOST_SERIES = 2_500;
/** Of one series in one answer: fewer points of a longer time. */
export const MOST_POINTS = 120;
/** Two looks that are closer than this are one. */
const TOO_SOON_MS = 100;

interface Parts {
  readonly server: string;
  readonly readings: () => Promise<readonly Reading[]>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly every?: Duration;
}

interface Kept {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** By the place of the look; NaN: it was not there then. */
  readonly values: Float64Array;
}

export function startRecorder({ server, readings, clock, logger, every = EVERY }: Parts): Recorder {
  const series = new Map<string, Kept>();
  /** When each look was, by its place; places are used again, oldest first. */
  const times = new Float64Array(MOST_LOOKS);
  let looks = 0;
  let newest: readonly Reading[] = [];
  const startedAt = clock.now();
  let looking: Promise<void> = Promise.resolve();
  const stop = new AbortController();
  const done = run();

  return {
    look() {
      looking = looking.then(look);
      return looking;
    },
    read: (component, after) => ({
      server,
      startedAt,
      at: timeOf(looks - 1) as Instant,
      since: timeOf(Math.max(0, looks - MOST_LOOKS)) as Instant,
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
      looking = looking.then(look);
      await looking;
      await sleep(clock, every, stop.signal);
    }
  }

  async function look(): Promise<void> {
    const at = clock.now();
    if (looks > 0 && at - timeOf(looks - 1) < TOO_SOON_MS) return;
    try {
      newest = await readings();
    } catch (error) {
      logger.warn({ err: error }, "what this server counts could not be read");
      return;
    }
    const place = looks % MOST_LOOKS;
    times[place] = at;
    looks += 1;
    for (const { values } of series.values()) values[place] = Number.NaN;
    for (const reading of newest) keep(reading, place);
  }

  function keep({ name, labels, value }: Reading, place: number): void {
    const key = keyOf(name, labels);
    const kept = series.get(key) ?? begin(key, name, labels);
    if (kept !== null) kept.values[place] = value;
  }

  function begin(key: string, name: string, labels: Reading["labels"]): Kept | null {
    if (series.size >= MOST_SERIES) return null;
    const kept = { name, labels, values: new Float64Array(MOST_LOOKS).fill(Number.NaN) };
    series.set(key, kept);
    return kept;
  }

  function timeOf(look: number): number {
    return times[Math.max(0, look) % MOST_LOOKS] ?? 0;
  }

  function pointsOf({ name, labels }: Reading, after: number): RecordedSeries["points"] {
    const values = series.get(keyOf(name, labels))?.values;
    if (values === undefined) return [];
    const points: { at: number; value: number }[] = [];
    for (let n = Math.max(0, looks - MOST_LOOKS); n < looks; n += 1) {
      const value = values[n % MOST_LOOKS] ?? Number.NaN;
      if (timeOf(n) > after && !Number.isNaN(value)) points.push({ at: timeOf(n), value });
    }
    // Counted from the newest, which is always among them.
    const step = Math.ceil(points.length / MOST_POINTS);
    return points.filter((_, n) => (points.length - 1 - n) % step === 0);
  }
}

const keyOf = (name: string, labels: Reading["labels"]): string => `${name}${JSON.stringify(labels)}`;
