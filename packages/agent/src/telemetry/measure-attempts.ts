// Ties the meter to the attempts of a node: those whose order asks for it are measured while they run.

import { availableParallelism } from "node:os";
import type { pb } from "@lattice/wire";
import type { Logger } from "pino";
import type { After } from "../after.ts";
import type { Order } from "../lifecycle/attempt.ts";
import { measuresMessage } from "../link/messages.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { meter } from "./meter.ts";

export interface AttemptFigures {
  start(key: string, order: Order | null): void;
  stop(key: string): void;
  /** For the next heartbeat. */
  messages(): pb.AttemptMeasures[];
  close(): void;
}

export interface MeasuredNode {
  readonly runtime: Pick<Runtime, "cpuMs" | "metricsFile">;
  readonly log: Logger;
  readonly now: () => number;
  readonly after: After;
}

export function measureAttempts({ runtime, log, now, after }: MeasuredNode): AttemptFigures {
  const figures = meter({ log, now, after, cpuMs: async (key) => (await runtime.cpuMs?.(key)) ?? null });
  return {
    start(key, order) {
      if (order?.measured !== true) return;
      const cores = order.share?.cpuCores || availableParallelism();
      figures.start(key, { cores, saidIn: runtime.metricsFile?.(key) ?? null });
    },
    stop: figures.stop,
    messages: () => figures.newest().map(({ key, values }) => measuresMessage(key, values)),
    close: figures.close,
  };
}
