// A clock for tests: time advances only on request.

import { type Duration, type Instant, instant } from "@lattice/core";
import type { Clock } from "../../src/base/clock.ts";

export interface TestClock extends Clock {
  advance(by: number): Promise<void>;
}

export function createTestClock(start = 1_000_000): TestClock {
  let now = start;
  let timers: { at: number; callback: () => void }[] = [];
  return {
    now: (): Instant => instant(now),
    after(wait: Duration, callback) {
      const timer = { at: now + wait, callback };
      timers.push(timer);
      return () => {
        timers = timers.filter((one) => one !== timer);
      };
    },
    turn: settle,
    worked: () => now,
    async advance(by) {
      const end = now + by;
      for (;;) {
        const next = timers.filter((one) => one.at <= end).toSorted((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        timers = timers.filter((one) => one !== next);
        now = Math.max(now, next.at);
        next.callback();
        await settle();
      }
      now = end;
      await settle();
    },
  };
}

/** Runs everything that is ready. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
