// Reads the usage of each attempt every few seconds and sends one window of it at the interval of its telemetry mode:
// 30 s by default (prod, audit), 1 s in debug. It also keeps what the attempt has used in all. Unsent windows are lost.

import { addValue, emptySketch, type Sketch, type UsageValues } from "@lattice/core";
import type { Logger } from "pino";
import type { After } from "../base/after.ts";
import type { ProcessUsage } from "../host/usage/usage.ts";
import { usedAtEnd, usedWith } from "./used.ts";

export type SampleMode = "prod" | "debug" | "audit";

export const WINDOW_MS: Readonly<Record<SampleMode, number>> = { prod: 30_000, debug: 1_000, audit: 30_000 };
/** Several readings in one window, for its quantiles. */
const READ_EVERY_MS: Readonly<Record<SampleMode, number>> = { prod: 2_000, debug: 1_000, audit: 2_000 };
/** Short attempts are read too, for what they use in all. */
const FIRST_READINGS_MS = [200, 800] as const;
const KEEP_EVERY_MS = 30_000;

export interface ClosedWindow {
  readonly windowMs: number;
  readonly metrics: ReadonlyMap<string, Sketch>;
}

interface Sampler {
  /** `adopted`: an earlier agent started it, so its counters do not begin at zero. */
  start(key: string, cores: number, adopted?: boolean): void;
  /** Reads no more; what is known is kept until `finish`. */
  stop(key: string): void;
  /** Takes the last reading and keeps what the attempt has used. */
  finish(key: string): Promise<void>;
  mode(key: string, mode: SampleMode): void;
  /** Resets all attempts to the default mode. */
  reset(): void;
  close(): void;
}

interface SamplerHost {
  /** Resolves to null when unknown. */
  readonly usage: (key: string) => Promise<ProcessUsage | null>;
  readonly onWindow: (key: string, window: ClosedWindow) => void;
  /** Keeps what an attempt has used, for its final report. */
  readonly keep: (key: string, used: UsageValues) => Promise<void>;
  readonly now: () => number;
  readonly after: After;
  readonly log: Logger;
}

interface Watched {
  readonly cores: number;
  mode: SampleMode;
  last: Moment | null;
  window: Map<string, OpenMetric>;
  windowFromMs: number;
  readings: number;
  used: UsageValues;
  keptAtMs: number;
  cancel: () => void;
}

const NOTHING: ProcessUsage = {
  ...{ cpuMs: 0, memoryBytes: 0, peakMemoryBytes: null, io: { readBytes: 0, writtenBytes: 0 } },
  ...{ processes: 0, majorFaults: 0, faults: 0 },
  ...{ stalledMs: { cpu: 0, memory: 0, io: 0 }, network: { received: 0, sent: 0 } },
};

export function sampler({ usage, onWindow, keep, now, after, log }: SamplerHost): Sampler {
  const watched = new Map<string, Watched>();
  /** Stopped, and not finished. */
  const ending = new Map<string, UsageValues>();

  async function read(key: string, each: Watched): Promise<void> {
    const found = await usage(key);
    if (found === null || watched.get(key) !== each) return;
    const moment = { atMs: now(), usage: found };
    each.used = usedWith(each.used, found);
    each.readings += 1;
    // The first readings are too close to each other for rates.
    if (each.readings > FIRST_READINGS_MS.length || each.mode === "debug") {
      const overMs = moment.atMs - (each.last?.atMs ?? each.windowFromMs);
      addReadings(each.window, ratesBetween(each.last, moment, each.cores), overMs);
      each.last = moment;
    }
    if (moment.atMs - each.windowFromMs >= WINDOW_MS[each.mode]) closeWindow(key, each);
    if (moment.atMs - each.keptAtMs < KEEP_EVERY_MS) return;
    each.keptAtMs = moment.atMs;
    await keep(key, each.used);
  }

  function closeWindow(key: string, each: Watched): void {
    const { window, windowFromMs } = each;
    each.window = new Map();
    each.windowFromMs = now();
    if (window.size === 0) return;
    onWindow(key, { windowMs: each.windowFromMs - windowFromMs, metrics: closedMetrics(window) });
  }

  function plan(key: string, each: Watched): void {
    const left = each.windowFromMs + WINDOW_MS[each.mode] - now();
    const every = FIRST_READINGS_MS[each.readings] ?? READ_EVERY_MS[each.mode];
    // The last reading of a window covers up to half an interval more or less.
    const next = left <= 1.5 * every ? left : every;
    each.cancel = after(Math.max(1, next), () => {
      read(key, each)
        .catch((error: Error) =>
          log.debug({ attempt: key, error: error.message }, "usage of an attempt cannot be sampled"),
        )
        .finally(() => watched.get(key) === each && plan(key, each));
    });
  }

  function stop(key: string): void {
    const each = watched.get(key);
    if (each === undefined) return;
    each.cancel();
    watched.delete(key);
    ending.set(key, each.used);
    closeWindow(key, each);
  }

  function setMode(key: string, mode: SampleMode): void {
    const each = watched.get(key);
    if (each === undefined || each.mode === mode) return;
    each.cancel();
    closeWindow(key, each);
    each.mode = mode;
    plan(key, each);
  }

  return {
    start(key, cores, adopted = false) {
      stop(key);
      const atMs = now();
      const last = adopted ? null : { atMs, usage: NOTHING };
      const fresh = { mode: "prod", window: new Map(), windowFromMs: atMs, readings: 0, keptAtMs: atMs } as const;
      const each: Watched = { ...fresh, cores, last, used: {}, cancel: () => undefined };
      watched.set(key, each);
      plan(key, each);
    },
    stop,
    async finish(key) {
      stop(key);
      const used = ending.get(key) ?? {};
      ending.delete(key);
      const last = await usage(key).catch(() => null);
      const total = last === null ? used : usedAtEnd(used, last);
      if (Object.keys(total).length > 0) await keep(key, total);
    },
    mode: setMode,
    reset() {
      for (const key of watched.keys()) setMode(key, "prod");
    },
    close() {
      for (const each of watched.values()) each.cancel();
      watched.clear();
    },
  };
}

// The metrics of an attempt between two readings of its counters, or of one reading for amounts. A counter that is
// missing or went backwards gives no value.

interface Moment {
  readonly atMs: number;
  readonly usage: ProcessUsage;
}

const SECOND_MS = 1_000;

/** `before`: null when earlier counters are unknown. */
function ratesBetween(before: Moment | null, after: Moment, cores: number): Record<string, number> {
  const { usage: now } = after;
  const values: Record<string, number> = { memory_used: now.memoryBytes, processes: now.processes };
  if (before === null || after.atMs <= before.atMs) return values;
  const { usage: then } = before;
  const ms = after.atMs - before.atMs;
  const set = (name: string, from: number | undefined, to: number | undefined, factor: number): void => {
    if (from !== undefined && to !== undefined && to >= from) values[name] = ((to - from) * factor) / ms;
  };
  set("cpu_utilization", then.cpuMs, now.cpuMs, 1 / Math.max(1, cores));
  set("io_read_bytes", then.io?.readBytes, now.io?.readBytes, SECOND_MS);
  set("io_write_bytes", then.io?.writtenBytes, now.io?.writtenBytes, SECOND_MS);
  set("network_rx_bytes", then.network?.received, now.network?.received, SECOND_MS);
  set("network_tx_bytes", then.network?.sent, now.network?.sent, SECOND_MS);
  set("page_faults", then.faults, now.faults, SECOND_MS);
  set("major_page_faults", then.majorFaults, now.majorFaults, SECOND_MS);
  set("cpu_stalled", then.stalledMs?.cpu, now.stalledMs?.cpu, 1);
  set("memory_stalled", then.stalledMs?.memory, now.stalledMs?.memory, 1);
  set("io_stalled", then.stalledMs?.io, now.stalledMs?.io, 1);
  return values;
}

// The values of metrics over one window. Every reading goes into a mergeable sketch, so that quantiles over many windows
// and nodes are those of all readings; the mean weighs each reading with its time, so that it is exact for rates.

interface OpenMetric {
  readonly sketch: Sketch;
  weighted: number;
  weight: number;
}

function addReadings(window: Map<string, OpenMetric>, values: Readonly<Record<string, number>>, overMs: number): void {
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
function closedMetrics(window: ReadonlyMap<string, OpenMetric>): ReadonlyMap<string, Sketch> {
  const closed = Array.from(window, ([name, { sketch, weighted, weight }]) => {
    const sum = (weighted / weight) * sketch.count;
    return [name, { ...sketch, sum }] as const;
  });
  return new Map(closed);
}
