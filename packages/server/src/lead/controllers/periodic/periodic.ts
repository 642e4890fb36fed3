// Runs a controller at an interval, one run at a time, until aborted. A run that throws is logged; the next run reads
// the state again and sees what this one missed.

import type { Duration } from "@lattice/core";
import type { Logger } from "pino";
import { type Clock, sleep } from "../../../base/clock.ts";

export interface Controller {
  readonly name: string;
  readonly every: Duration;
  readonly run: () => Promise<void>;
}

export async function runPeriodically(
  controller: Controller,
  clock: Clock,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await sleep(clock, controller.every, signal);
    if (signal.aborted) return;
    try {
      await controller.run();
    } catch (error) {
      if (!signal.aborted) logger.warn({ err: error, controller: controller.name }, "controller run failed");
    }
  }
}
