// Reads the usage of each attempt every few seconds and sends one window of it at the interval of its telemetry mode:
// 30 s by default (prod, audit), 1 s in debug. It also keeps what the attempt has used in all. Unsent windows are lost.

import type { Sketch, UsageValues } from "@lattice/core";
import type { Logger } from "pino";
import type { After } from "../base/after.ts";
import type { ProcessUsage } from "../host/usage/usage.ts";
import { type Moment, ratesBetween } from "./rates.ts";
import { usedAtEnd, usedWith } from "./used.ts";
import { addReadings, closedMetrics, type OpenMetric } from "./window.ts";

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
