// Time as the control plane sees it. The leader, its controllers and the agent hub take a Clock,
// never `Date` or `setTimeout`, so that the whole control plane can run on virtual time.

import { type Duration, type Instant, instant } from "@lattice/core";

export interface Clock {
  now(): Instant;
  /** Calls back once after `wait`; the returned function cancels. */
  after(wait: Duration, callback: () => void): () => void;
  /** Resolves when everything that is ready now has had its turn. */
  turn(): Promise<void>;
  /**
   * Milliseconds on the monotonic clock: for telling how long something took or how long a
   * node is silent, whatever happens to the time of day. Has no date, and may have fractions.
   */
  worked(): number;
}

/** Returns the monotonic time; comparable only with other monotonic times. */
export const steadyNow = (clock: Clock): Instant => instant(Math.floor(clock.worked()));

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
