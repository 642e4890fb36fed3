// Reports of elements are sent after a moment. Most short elements have ended by then, so one report has their start and
// their end, and the reports of several arrive together, which costs the server one entry of the log.

import type { After } from "../base/after.ts";

/** Shorter than anyone sees, longer than a short program. */
const HOLD_MS = 20;

export interface HeldReports {
  /** Records the start. Returns true when its report is held: `send` is called unless the attempt has ended meanwhile. */
  hold(key: string, atMs: number, send: () => void): boolean;
  /** The attempt has ended. Returns when it started; nothing when it has not. */
  ended(key: string): { readonly startedAtMs?: number };
  /** Sends the report of an end, after a moment together with others when `waits`: another element has the node now. */
  sendEnd(waits: boolean, send: () => void): void;
  /** After a restart of the agent. */
  recovered(key: string, atMs: number): void;
  drop(key: string): void;
  close(): void;
}

export function heldReports(after: After): HeldReports {
  const startedAt = new Map<string, number>();
  const held = new Map<string, () => void>();
  const ends: (() => void)[] = [];
  let cancelEnds = (): void => undefined;

  function flush(): void {
    for (const send of ends.splice(0)) send();
  }

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
      const startedAtMs = startedAt.get(key);
      return startedAtMs === undefined ? {} : { startedAtMs };
    },
    sendEnd(waits, send) {
      if (!waits) {
        flush();
        send();
        return;
      }
      ends.push(send);
      if (ends.length === 1) cancelEnds = after(HOLD_MS, flush);
    },
    recovered: (key, atMs) => void startedAt.set(key, atMs),
    drop(key) {
      cancel(key);
      startedAt.delete(key);
    },
    close() {
      for (const stop of held.values()) stop();
      held.clear();
      cancelEnds();
    },
  };
}

/** "12345_7.1" */
const isElement = (key: string): boolean => key.includes("_");
