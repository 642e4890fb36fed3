// The clock of the control plane. The leader, its controllers and the agent hub take a Clock,
// never `Date` or `setTimeout`, so that the whole control plane can run on virtual time.

import { type Duration, type Instant, instant } from "@lattice/core";

export interface Clock {
  now(): Instant;
  /** Calls back once after `wait`; the returned function cancels. */
  after(wait: Duration, callback: () => void): () => void;
  /** Resolves after all callbacks that are ready now have run. */
  turn(): Promise<void>;
  /**
   * Milliseconds on the monotonic clock, for durations and timeouts that a wall-clock jump must not affect. May have
   * fractions.
   */
  worked(): number;
}

/** Returns the monotonic time; comparable only with other monotonic times. */
export const monotonicNow = (clock: Clock): Instant => instant(Math.floor(clock.worked()));

export const systemClock: Clock = {
  now: () => instant(Date.now()),
  after(wait, callback) {
    const timer = setTimeout(callback, wait);
    return () => clearTimeout(timer);
  },
  turn: () => new Promise((resolve) => setImmediate(resolve)),
  worked: () => performance.now(),
};

/** Resolves after `wait`, or at once when the signal aborts. Never rejects. */
export function sleep(clock: Clock, wait: Duration, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const finish = () => {
      cancel();
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const cancel = clock.after(wait, finish);
    signal.addEventListener("abort", finish, { once: true });
  });
}
