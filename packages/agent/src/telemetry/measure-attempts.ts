// Connects meter and sampler to the attempts of a node: all of them are sampled while they run; attempts whose order
// requests it are also metered for heartbeats.

import { availableParallelism } from "node:os";
import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import type { Logger } from "pino";
import type { After } from "../base/after.ts";
import { isExclusive } from "../lifecycle/attempt.ts";
import type { Link } from "../link/link.ts";
import { measuresMessage } from "../link/messages.ts";
import type { Runtime } from "../runtime/base/runtime.ts";
import type { GpuLoad } from "./gpu-load.ts";
import { meter } from "./meter.ts";
import { type ClosedWindow, type SampleMode, sampler, WINDOW_MS } from "./sampler.ts";
import { usedSince } from "./used.ts";

export interface AttemptMeter {
  /** `adopted`: an earlier agent started it. */
  start(key: string, order: pb.RunOrder | null, adopted?: boolean): void;
  stop(key: string): void;
  /** Takes the last reading of an attempt whose processes have ended. */
  finish(key: string): Promise<void>;
  /** Sets the telemetry mode; an unknown mode is ignored. */
  mode(key: string, mode: string): void;
  /** A server has welcomed this node and will send the modes. */
  reset(): void;
  /** For the next heartbeat. */
  messages(): pb.AttemptMeasures[];
  close(): void;
}

interface MeasuredNode {
  readonly runtime: Pick<Runtime, "cpuMs" | "reported" | "usage" | "rememberUsed" | "used">;
  /** Samples are lost while the node is not connected. */
  readonly link: () => Pick<Link, "send"> | null;
  readonly log: Logger;
  readonly now: () => number;
  readonly after: After;
  /** Attempts that answer their probes. */
  readonly well: () => readonly string[];
  /** Mean utilization of the node's GPUs. Default: the node has none. */
  readonly gpus?: GpuLoad;
}

/** 1 while the attempt's probe succeeds. The server waits for it during a rolling update. */
const PROBE_OK = "probe_ok";

export function measureAttempts({ runtime, log, now, after, link, well, gpus }: MeasuredNode): AttemptMeter {
  const samples = sampler({
    log,
    now,
    after,
    usage: async (key) => (await runtime.usage?.(key)) ?? null,
    onWindow(key, window) {
      const value = create(pb.AttemptSamplesSchema, { samples: [measuresMessage(key, meansOf(window))] });
      link()?.send({ case: "samples", value });
    },
    keep: async (key, used) => runtime.rememberUsed?.(key, usedSince((await runtime.used?.(key)) ?? {}, used)),
  });
  const figures = meter({ log, now, after, cpuMs: async (key) => (await runtime.cpuMs?.(key)) ?? null });
  return {
    start(key, order, adopted) {
      const cores = order?.limits?.cpuCores || availableParallelism();
      // Simulated nodes have nothing to measure.
      if (runtime.usage !== undefined) samples.start(key, cores, adopted);
      if (order?.measured !== true) return;
      // On a shared node it is unknown which GPU works for which attempt.
      const busy = gpus === undefined || !isExclusive(order) ? {} : { gpuLoad: gpus.mean };
      figures.start(key, { cores, reported: async () => (await runtime.reported?.(key)) ?? "", ...busy });
    },
    stop(key) {
      figures.stop(key);
      samples.stop(key);
    },
    finish: (key) =>
      samples.finish(key).catch((error: Error) => {
        log.warn({ attempt: key, error: error.message }, "usage of an attempt not recorded");
      }),
    mode: (key, mode) => Object.hasOwn(WINDOW_MS, mode) && samples.mode(key, mode as SampleMode),
    reset: samples.reset,
    messages() {
      const newest = new Map(figures.newest().map(({ key, values }) => [key, values]));
      for (const key of well()) newest.set(key, { ...newest.get(key), [PROBE_OK]: 1 });
      return Array.from(newest, ([key, values]) => measuresMessage(key, values));
    },
    close() {
      figures.close();
      samples.close();
    },
  };
}

const meansOf = ({ metrics }: ClosedWindow): Record<string, number> =>
  Object.fromEntries(Array.from(metrics, ([name, { sum, count }]) => [name, sum / count]));
