// Ties meter and sampler to the attempts of a node: all of them are sampled while they run, and those whose order asks for it
// are measured for heartbeats as well.

import { availableParallelism } from "node:os";
import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import type { Logger } from "pino";
import type { After } from "../after.ts";
import type { Order } from "../lifecycle/attempt.ts";
import type { Link } from "../link/link.ts";
import { measuresMessage } from "../link/messages.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { GpuLoad } from "./gpu-load.ts";
import { meter } from "./meter.ts";
import { EVERY_MS, sampler, type TelemetryMode } from "./sampler.ts";

export interface AttemptFigures {
  start(key: string, order: Order | null): void;
  stop(key: string): void;
  /** How closely it is looked at from now on; a mode that is not known is not taken. */
  mode(key: string, mode: string): void;
  /** A server has welcomed this node, and will say which modes hold. */
  reset(): void;
  /** For the next heartbeat. */
  messages(): pb.AttemptMeasures[];
  close(): void;
}

export interface MeasuredNode {
  readonly runtime: Pick<Runtime, "cpuMs" | "metricsFile" | "usage">;
  /** Samples are lost where nobody is connected. */
  readonly link: () => Pick<Link, "send"> | null;
  readonly log: Logger;
  readonly now: () => number;
  readonly after: After;
  /** Attempts that answer their probes. */
  readonly well: () => readonly string[];
  /** How busy the GPUs of the node are on the whole; absent: it has none. */
  readonly gpus?: GpuLoad;
}

/** Of such an attempt: 1. The server waits for it before it goes on with a rolling update. */
const PROBE_OK = "probe_ok";

export function measureAttempts({ runtime, log, now, after, link, well, gpus }: MeasuredNode): AttemptFigures {
  const samples = sampler({
    ...{ log, now, after },
    usage: async (key) => (await runtime.usage?.(key)) ?? null,
    tell(key, values) {
      const value = create(pb.AttemptSamplesSchema, { samples: [measuresMessage(key, values)] });
      link()?.send({ case: "samples", value });
    },
  });
  const figures = meter({ log, now, after, cpuMs: async (key) => (await runtime.cpuMs?.(key)) ?? null });
  return {
    start(key, order) {
      const cores = order?.share?.cpuCores || availableParallelism();
      // Nodes that simulate have nothing to look at.
      if (runtime.usage !== undefined) samples.start(key, cores);
      if (order?.measured !== true) return;
      // Of a part of a node nobody knows which GPU does whose work.
      const busy = gpus === undefined || !order.exclusive ? {} : { gpuLoad: gpus.mean };
      figures.start(key, { cores, saidIn: runtime.metricsFile?.(key) ?? null, ...busy });
    },
    stop(key) {
      figures.stop(key);
      samples.stop(key);
    },
    mode: (key, mode) => mode in EVERY_MS && samples.mode(key, mode as TelemetryMode),
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
