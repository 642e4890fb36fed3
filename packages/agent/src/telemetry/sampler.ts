// Samples what each attempt uses, as often as its telemetry mode says: every 30 s as a rule (prod, audit), every second
// while somebody looks closely (debug). A sample tells the mean since the one before. Nothing is kept: whoever is told
// keeps it, and what cannot be told is lost.

import type { Logger } from "pino";
import type { After } from "../after.ts";
import type { Usage } from "./usage.ts";

export type TelemetryMode = "prod" | "debug" | "audit";

export const EVERY_MS: Readonly<Record<TelemetryMode, number>> = { prod: 30_000, debug: 1_000, audit: 30_000 };

export interface Sampler {
  start(key: string, cores: number): void;
  stop(key: string): void;
  mode(key: string, mode: TelemetryMode): void;
  /** All of them are as before anybody said anything. */
  reset(): void;
  close(): void;
}

export interface SamplerHost {
  /** Null: not to be told. */
  readonly usage: (key: string) => Promise<Usage | null>;
  readonly tell: (key: string, values: Readonly<Record<string, number>>) => void;
  readonly now: () => number;
  readonly after: After;
  readonly log: Logger;
}

interface Watched {
  readonly cores: number;
  mode: TelemetryMode;
  last: { readonly atMs: number; readonly usage: Usage };
  cancel: () => void;
}

const NOTHING: Usage = { cpuMs: 0, memoryBytes: 0, io: { readBytes: 0, writtenBytes: 0 } };

export function sampler({ usage, tell, now, after, log }: SamplerHost): Sampler {
  const watched = new Map<string, Watched>();

  async function sample(key: string, each: Watched): Promise<void> {
    const found = await usage(key);
    if (found === null || watched.get(key) !== each) return;
    const { last } = each;
    each.last = { atMs: now(), usage: found };
    if (each.last.atMs > last.atMs) tell(key, between(last, each.last, each.cores));
  }

  function plan(key: string, each: Watched): void {
    each.cancel = after(EVERY_MS[each.mode], () => {
      sample(key, each)
        .catch((error: Error) => log.debug({ attempt: key, error: error.message }, "an attempt could not be sampled"))
        .finally(() => watched.get(key) === each && plan(key, each));
    });
  }

  function stop(key: string): void {
    watched.get(key)?.cancel();
    watched.delete(key);
  }

  function setMode(key: string, mode: TelemetryMode): void {
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

/** Processes that have ended take their figures along; then there is no rate to tell. */
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
