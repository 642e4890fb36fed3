// A controller's beat: runs `turn` every `every`, one turn at a time, until aborted. A turn that
// throws is logged and the beat goes on; state is the only memory, so the next turn sees what this
// one missed.

import type { Duration } from "@lattice/core";
import type { Logger } from "pino";
import { type Clock, sleep } from "../clock.ts";

export interface Beat {
  readonly name: string;
  readonly every: Duration;
  readonly turn: () => Promise<void>;
}

export async function keepBeat(beat: Beat, clock: Clock, logger: Logger, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(clock, beat.every, signal);
    if (signal.aborted) return;
    try {
      await beat.turn();
    } catch (error) {
      if (!signal.aborted) logger.warn({ err: error, controller: beat.name }, "controller turn failed");
    }
  }
}
