// Starts of elements are reported after a moment: most short elements have ended by then, and one report has both times.

import type { After } from "../base/after.ts";

/** Shorter than anyone sees, longer than a short program. */
const HOLD_MS = 20;

export interface HeldStarts {
  /** Records the start. Returns true when its report is held: `send` is called unless the attempt has ended meanwhile. */
  hold(key: string, atMs: number, send: () => void): boolean;
  /** The attempt has ended. Returns when it started; undefined when it has not. */
  ended(key: string): number | undefined;
  /** After a restart of the agent. */
  recovered(key: string, atMs: number): void;
  drop(key: string): void;
  close(): void;
}

export function heldStarts(after: After): HeldStarts {
  const startedAt = new Map<string, number>();
  const held = new Map<string, () => void>();

  function cancel(key: string): void {
    held.get(key)?.();
    held.delete(key);
  }

  return {
    hold(key, atMs, send) {
      const isRepeated = startedAt.has(key);
      startedAt.set(key, atMs);
      if (isRepeated || !isElement(key)) return false;
      const stop = after(HOLD_MS, () => {
        held.delete(key);
        send();
      });
      held.set(key, stop);
      return true;
    },
    ended(key) {
      cancel(key);
      return startedAt.get(key);
    },
    recovered: (key, atMs) => void startedAt.set(key, atMs),
    drop(key) {
      cancel(key);
      startedAt.delete(key);
    },
    close() {
      for (const stop of held.values()) stop();
      held.clear();
    },
  };
}

/** "12345_7.1" */
const isElement = (key: string): boolean => key.includes("_");
