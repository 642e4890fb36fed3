// Samples the usage of each attempt at the interval of its telemetry mode: 30 s by default (prod, audit), 1 s in
// debug. A sample is the mean since the previous one. Nothing is kept here, and unsent samples are lost.

import type { Logger } from "pino";
import type { After } from "../base/after.ts";
import type { ProcessUsage } from "../host/usage.ts";

export type SampleMode = "prod" | "debug" | "audit";

export const EVERY_MS: Readonly<Record<SampleMode, number>> = { prod: 30_000, debug: 1_000, audit: 30_000 };

interface Sampler {
  start(key: string, cores: number): void;
  stop(key: string): void;
  mode(key: string, mode: SampleMode): void;
  /** Resets all attempts to the default mode. */
  reset(): void;
  close(): void;
}

interface SamplerHost {
  /** Resolves to null when unknown. */
  readonly usage: (key: string) => Promise<ProcessUsage | null>;
  readonly onSample: (key: string, values: Readonly<Record<string, number>>) => void;
  readonly now: () => number;
  readonly after: After;
  readonly log: Logger;
}

interface Watched {
  readonly cores: number;
  mode: SampleMode;
  last: { readonly atMs: number; readonly usage: ProcessUsage };
  cancel: () => void;
}

const NOTHING: ProcessUsage = { cpuMs: 0, memoryBytes: 0, io: { readBytes: 0, writtenBytes: 0 } };

export function sampler({ usage, onSample, now, after, log }: SamplerHost): Sampler {
  const watched = new Map<string, Watched>();

  async function sample(key: string, each: Watched): Promise<void> {
    const found = await usage(key);
    if (found === null || watched.get(key) !== each) return;
    const { last } = each;
    each.last = { atMs: now(), usage: found };
    if (each.last.atMs > last.atMs) onSample(key, between(last, each.last, each.cores));
  }

  function plan(key: string, each: Watched): void {
    each.cancel = after(EVERY_MS[each.mode], () => {
      sample(key, each)
        .catch((error: Error) =>
          log.debug({ attempt: key, error: error.message }, "usage of an attempt cannot be sampled"),
        )
        .finally(() => watched.get(key) === each && plan(key, each));
    });
  }

  function stop(key: string): void {
    watched.get(key)?.cancel();
    watched.delete(key);
  }

  function setMode(key: string, mode: SampleMode): void {
    const each = watched.get(key);
    if (each === undefined || each.mode === mode) return;
    each.mode = mode;
    each.cancel();
    plan(key, each);
  }

  return {
    start(key, cores) {
      stop(key);
      const each: Watched = { cores, mode: "prod", last: { atMs: now(), usage: NOTHING }, cancel: () => undefined };
      watched.set(key, each);
      plan(key, each);
    },
    stop,
    mode: setMode,
    reset() {
      for (const key of watched.keys()) setMode(key, "prod");
    },
    close() {
      for (const key of [...watched.keys()]) stop(key);
    },
  };
}

type Moment = Watched["last"];

/** Counters of ended processes are lost; then there is no rate to report. */
function between(before: Moment, after: Moment, cores: number): Record<string, number> {
  const ms = after.atMs - before.atMs;
  const used = after.usage.cpuMs - before.usage.cpuMs;
  const values: Record<string, number> = { memory_used: after.usage.memoryBytes };
  if (used >= 0) values.cpu_utilization = used / ms / Math.max(1, cores);
  const [then, now] = [before.usage.io, after.usage.io];
  if (then === null || now === null) return values;
  const [read, written] = [now.readBytes - then.readBytes, now.writtenBytes - then.writtenBytes];
  if (read >= 0) values.io_read_bytes = (read * 1000) / ms;
  if (written >= 0) values.io_write_bytes = (written * 1000) / ms;
  return values;
}
