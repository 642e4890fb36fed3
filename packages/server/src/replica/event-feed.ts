// Recent events with their cursors, for watchers. A bounded window: a watcher that fell out of it
// is told so (`cursor_gone`) and lists again. The window is rebuilt from the log tail at start, so
// a restart does not cut off watchers that were nearly up to date. Few watchers hear of everything at once. Where there are
// hundreds, to wake them all costs more than what happened: they are woken together, less often the more they are.

import type { Applied, LogIndex } from "@lattice/core";
import { ProblemError } from "@lattice/wire";
import type { Cursor, NumberedEvent } from "../api/control-plane.ts";

/** Events kept; seconds at thousands of submissions a second, hours to days at normal load. */
const WINDOW = 16_384;
/** Dropping from the front in slices keeps the cost of the window constant. */
const SLACK = 4_096;
/** Events handed to a watcher at once. */
const BATCH = 512;
/** Watchers that are always woken at once. */
const FEW = 64;
/** To wake one and write to its connection takes some 0.04 ms: a small part of a core is left to it. */
const PACE_MS_PER_WATCHER = 1;
const SLOWEST_PACE_MS = 1_000;

export interface EventFeed {
  /** The window begins after this entry; called once, before the first `record`. */
  begin(after: LogIndex): void;
  record(applied: Applied): void;
  read(after: Cursor | null, signal: AbortSignal): AsyncIterable<readonly NumberedEvent[]>;
  /** Calls back after every entry that had events. */
  onEvents(listener: (events: readonly NumberedEvent[]) => void): () => void;
}

export interface FeedClock {
  now(): number;
  after(ms: number, then: () => void): void;
}

const platform: FeedClock = {
  now: () => performance.now(),
  after: (ms, then) => void setTimeout(then, ms).unref(),
};

export function createEventFeed(clock: FeedClock = platform): EventFeed {
  let events: NumberedEvent[] = [];
  /** Position of events[0] in the sequence of all events of this process. */
  let first = 0;
  /** Cursors at or before this are gone. */
  let floor: Cursor = { index: 0 as LogIndex, n: -1 };
  let last: Cursor = floor;
  const wakers = new Set<() => void>();
  const listeners = new Set<(events: readonly NumberedEvent[]) => void>();

  let wokenAt = Number.NEGATIVE_INFINITY;
  let isDue = false;

  const wakeAll = () => {
    isDue = false;
    const woken = [...wakers];
    wakers.clear();
    for (const waker of woken) waker();
  };

  const wake = () => {
    if (wakers.size <= FEW) return wakeAll();
    if (isDue) return;
    const pace = Math.min(SLOWEST_PACE_MS, wakers.size * PACE_MS_PER_WATCHER);
    const wait = wokenAt + pace - clock.now();
    const together = () => {
      wokenAt = clock.now();
      wakeAll();
    };
    if (wait <= 0) return together();
    isDue = true;
    clock.after(wait, together);
  };

  const trim = () => {
    if (events.length < WINDOW + SLACK) return;
    const dropped = events[SLACK - 1];
    if (dropped !== undefined) floor = dropped.cursor;
    events = events.slice(SLACK);
    first += SLACK;
  };

  return {
    begin(after) {
      floor = { index: after, n: after === 0 ? -1 : Number.MAX_SAFE_INTEGER };
      last = floor;
    },
    record(applied) {
      last = { index: applied.index, n: Number.MAX_SAFE_INTEGER };
      if (applied.events.length === 0) return;
      const numbered = applied.events.map((event, n) => ({
        cursor: { index: applied.index, n },
        at: applied.at,
        event,
      }));
      for (const event of numbered) events.push(event);
      trim();
      wake();
      for (const listener of listeners) listener(numbered);
    },
    onEvents(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async *read(after, signal) {
      let position = after === null ? first + events.length : locate(after);
      let waker: () => void = () => undefined;
      const stop = () => waker();
      signal.addEventListener("abort", stop, { once: true });
      try {
        while (!signal.aborted) {
          if (position < first) throw gone();
          const offset = position - first;
          const batch = events.slice(offset, offset + BATCH);
          if (batch.length > 0) {
            position += batch.length;
            yield batch;
            continue;
          }
          await new Promise<void>((resolve) => {
            waker = resolve;
            wakers.add(waker);
          });
        }
      } finally {
        wakers.delete(waker);
        signal.removeEventListener("abort", stop);
      }
    },
  };

  /** Position of the first event after the cursor. */
  function locate(cursor: Cursor): number {
    if (compare(cursor, floor) < 0 || compare(cursor, last) > 0) throw gone();
    let low = 0;
    let high = events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const event = events[middle];
      if (event !== undefined && compare(event.cursor, cursor) <= 0) low = middle + 1;
      else high = middle;
    }
    return first + low;
  }
}

const compare = (a: Cursor, b: Cursor): number => a.index - b.index || a.n - b.n;

const gone = () =>
  new ProblemError("cursor_gone", {
    detail: "The events after this cursor are no longer kept.",
    hint: "List the current state, then watch from the log_index the list answers with.",
  });
