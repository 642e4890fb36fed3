// Meters the usage of attempts and the metrics that their programs report. It measures slightly more often than
// heartbeats are sent, off their path; heartbeats take the newest values. Attempts that are not metered cost nothing.

import type { Logger } from "pino";
import { type After, systemAfter } from "../base/after.ts";
import { parseReported } from "./reported-metrics.ts";

interface MeteredAttempt {
  readonly key: string;
  readonly values: Readonly<Record<string, number>>;
}

interface Meter {
  start(key: string, of: Measurable): void;
  stop(key: string): void;
  newest(): readonly MeteredAttempt[];
  close(): void;
}

interface Measurable {
  readonly cores: number;
  /** The reported metrics of its programs. Default: they cannot report any. */
  readonly reported?: () => Promise<string>;
  /** Utilization of its GPUs from 0 to 1; null when unknown. Default: it has none. */
  readonly gpuLoad?: () => number | null;
}

interface MeterHost {
  /** CPU milliseconds used so far; null when unknown. */
  readonly cpuMs: (key: string) => Promise<number | null>;
  readonly now: () => number;
  readonly log: Logger;
  readonly after?: After;
  readonly everyMs?: number;
}

const EVERY_MS = 2_000;

interface Watched extends Measurable {
  last: { readonly atMs: number; readonly cpuMs: number } | null;
  values: Readonly<Record<string, number>>;
}

export function meter({ cpuMs, now, log, after = systemAfter, everyMs = EVERY_MS }: MeterHost): Meter {
  const watched = new Map<string, Watched>();
  let cancel: (() => void) | null = null;

  async function look(): Promise<void> {
    // At the same time: a user can delay the reading of its own file.
    await Promise.all([...watched].map(([key, each]) => measure(key, each)));
    if (watched.size > 0) cancel = after(everyMs, () => void look());
    else cancel = null;
  }

  async function measure(key: string, each: Watched): Promise<void> {
    try {
      const [processor, reported] = await Promise.all([processorOf(key, each), each.reported?.() ?? ""]);
      each.values = { ...processor, ...gpusOf(each), ...parseReported(reported) };
    } catch (error) {
      log.debug({ attempt: key, error: String(error) }, "usage of an attempt cannot be measured");
    }
  }

  async function processorOf(key: string, each: Watched): Promise<Record<string, number>> {
    const used = await cpuMs(key);
    const before = each.last;
    if (used === null) return {};
    const atMs = now();
    each.last = { atMs, cpuMs: used };
    if (before === null || atMs <= before.atMs || used < before.cpuMs) return {};
    return { cpu_utilization: (used - before.cpuMs) / (atMs - before.atMs) / Math.max(1, each.cores) };
  }

  function gpusOf({ gpuLoad }: Watched): Record<string, number> {
    const load = gpuLoad?.() ?? null;
    return load === null ? {} : { gpu_utilization: load };
  }

  return {
    start(key, of) {
      watched.set(key, { ...of, last: null, values: {} });
      cancel ??= after(0, () => void look());
    },
    stop: (key) => void watched.delete(key),
    newest: () =>
      [...watched].flatMap(([key, { values }]) => (Object.keys(values).length === 0 ? [] : [{ key, values }])),
    close() {
      cancel?.();
      watched.clear();
    },
  };
}
