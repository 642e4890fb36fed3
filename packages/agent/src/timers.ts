// The timers of attempts: walltime and the ends of grace periods, by attempt and name. A delay
// longer than the platform's timers can hold (24 days) is waited for in parts.

import type { TimerName } from "./lifecycle/attempt.ts";

const LONGEST_WAIT_MS = 2 ** 30;

export interface AttemptTimers {
  /** Replaces the timer of that name. */
  arm(key: string, name: TimerName, atMs: number): void;
  disarm(key: string): void;
  close(): void;
}

export function attemptTimers(now: () => number, fired: (key: string, name: TimerName) => void): AttemptTimers {
  const armed = new Map<string, Map<TimerName, NodeJS.Timeout>>();

  function arm(key: string, name: TimerName, atMs: number): void {
    const timers = armed.get(key) ?? new Map<TimerName, NodeJS.Timeout>();
    armed.set(key, timers);
    clearTimeout(timers.get(name));
    const wait = Math.max(0, Math.min(atMs - now(), LONGEST_WAIT_MS));
    const timer = setTimeout(() => {
      timers.delete(name);
      if (now() < atMs) arm(key, name, atMs);
      else fired(key, name);
    }, wait);
    timers.set(name, timer);
  }

  function disarm(key: string): void {
    for (const timer of armed.get(key)?.values() ?? []) clearTimeout(timer);
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
