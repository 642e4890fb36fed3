// The timers of attempts: walltime and the ends of grace periods, by attempt and name. A delay beyond the platform's
// limit (24 days) is split.

import { type After, systemAfter } from "../base/after.ts";
import type { TimerName } from "../lifecycle/attempt.ts";

const MAX_WAIT_MS = 2 ** 30;

export interface AttemptTimers {
  /** Replaces the timer of that name. */
  arm(key: string, name: TimerName, atMs: number): void;
  disarm(key: string): void;
  close(): void;
}

export function attemptTimers(
  now: () => number,
  fired: (key: string, name: TimerName) => void,
  after: After = systemAfter,
): AttemptTimers {
  /** The cancel function of each timer. */
  const armed = new Map<string, Map<TimerName, () => void>>();

  function arm(key: string, name: TimerName, atMs: number): void {
    const timers = armed.get(key) ?? new Map<TimerName, () => void>();
    armed.set(key, timers);
    timers.get(name)?.();
    const wait = Math.max(0, Math.min(atMs - now(), MAX_WAIT_MS));
    const cancel = after(wait, () => {
      timers.delete(name);
      if (now() < atMs) arm(key, name, atMs);
      else fired(key, name);
    });
    timers.set(name, cancel);
  }

  function disarm(key: string): void {
    for (const cancel of armed.get(key)?.values() ?? []) cancel();
    armed.delete(key);
  }

  return {
    arm,
    disarm,
    close() {
      for (const key of [...armed.keys()]) disarm(key);
    },
  };
}
