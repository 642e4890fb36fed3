// Recent events with their cursors, for watchers. The window is bounded: a watcher that falls out of it gets
// `cursor_gone` and lists again. The window is rebuilt from the tail of the log at start, so that a restart does not cut
// off watchers that were nearly up to date. Few watchers are woken at once; hundreds are woken together, less often the
// more they are, since waking costs more than the event itself.

import { type Applied, type LogIndex, logIndex } from "@lattice/core";
import { ProblemError } from "@lattice/wire";
import type { Cursor, NumberedEvent } from "../events/cursor.ts";

/** Events in the window: seconds at thousands of submissions per second, hours to days at normal load. */
const WINDOW = 16_384;
/** Dropping from the front in slices keeps the cost of the window constant. */
const SLACK = 4_096;
/** Events handed to a watcher at once. */
const BATCH = 512;
/** Up to this many watchers are woken at once. */
const MAX_UNPACED = 64;
/** Waking one and writing to its connection takes about 0.04 ms; this pace uses a few percent of a core. */
const PACE_MS_PER_WATCHER = 1;
const MAX_PACE_MS = 1_000;

export interface EventFeed {
  /** The window begins after this entry; called once, before the first `record`. */
  begin(after: LogIndex): void;
  record(applied: Applied): void;
  read(after: Cursor | null, signal: AbortSignal): AsyncIterable<readonly NumberedEvent[]>;
  /** Calls back after every entry that had events. */
  onEvents(listener: (events: readonly NumberedEvent[]) => void): () => void;
}

interface FeedClock {
  now(): number;
  after(ms: number, then: () => void): void;
}

const platform: FeedClock = {
  now: () => performance.now(),
  after: (ms, then) => void setTimeout(then, ms).unref(),
};

export function createEventFeed(clock: FeedClock = platform): EventFeed {
  const window = new EventWindow();
  const watchers = createWakers(clock);
  const listeners = new Set<(events: readonly NumberedEvent[]) => void>();
  return {
    begin: (after) => window.begin(after),
    record(applied) {
      const numbered = window.record(applied);
      if (numbered.length === 0) return;
      watchers.wake();
      for (const listener of listeners) listener(numbered);
    },
    onEvents(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async *read(after, signal) {
      let position = after === null ? window.end : window.locate(after);
      while (!signal.aborted) {
        const batch = window.read(position);
        if (batch.length === 0) await watchers.wait(signal);
        position += batch.length;
        if (batch.length > 0) yield batch;
      }
    },
  };
}

/** The newest events, addressed by their position in the sequence of all events of this process. */
class EventWindow {
  #events: NumberedEvent[] = [];
  /** Position of the oldest event in the window. */
  #first = 0;
  /** Events at or before this cursor have left the window. */
  #floor: Cursor = { index: logIndex(0), n: -1 };
  #last: Cursor = this.#floor;

  get end(): number {
    return this.#first + this.#events.length;
  }

  begin(after: LogIndex): void {
    this.#floor = { index: after, n: after === 0 ? -1 : Number.MAX_SAFE_INTEGER };
    this.#last = this.#floor;
  }

  record({ index, at, events }: Applied): readonly NumberedEvent[] {
    this.#last = { index, n: Number.MAX_SAFE_INTEGER };
    const numbered = events.map((event, n) => ({ cursor: { index, n }, at, event }));
    for (const event of numbered) this.#events.push(event);
    this.#trim();
    return numbered;
  }

  /** Returns the next events; throws when the position has left the window. */
  read(position: number): readonly NumberedEvent[] {
    if (position < this.#first) throw gone();
    const offset = position - this.#first;
    return this.#events.slice(offset, offset + BATCH);
  }

  /** Returns the position of the first event after the cursor. */
  locate(cursor: Cursor): number {
    if (compare(cursor, this.#floor) < 0 || compare(cursor, this.#last) > 0) throw gone();
    let low = 0;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const event = this.#events[middle];
      if (event !== undefined && compare(event.cursor, cursor) <= 0) low = middle + 1;
      else high = middle;
    }
    return this.#first + low;
  }

  #trim(): void {
    if (this.#events.length < WINDOW + SLACK) return;
    const dropped = this.#events[SLACK - 1];
    if (dropped !== undefined) this.#floor = dropped.cursor;
    this.#events = this.#events.slice(SLACK);
    this.#first += SLACK;
  }
}

/** Watchers that wait for the next event, and the pace at which they are woken. */
function createWakers(clock: FeedClock) {
  const wakers = new Set<() => void>();
  let wokenAt = Number.NEGATIVE_INFINITY;
  let isDue = false;

  const wakeAll = () => {
    isDue = false;
    const woken = [...wakers];
    wakers.clear();
    for (const waker of woken) waker();
  };
  const wakeTogether = () => {
    wokenAt = clock.now();
    wakeAll();
  };

  return {
    wake() {
      if (wakers.size <= MAX_UNPACED) return wakeAll();
      if (isDue) return;
      const pace = Math.min(MAX_PACE_MS, wakers.size * PACE_MS_PER_WATCHER);
      const wait = wokenAt + pace - clock.now();
      if (wait <= 0) return wakeTogether();
      isDue = true;
      clock.after(wait, wakeTogether);
    },
    async wait(signal: AbortSignal): Promise<void> {
      let waker: () => void = () => undefined;
      const stop = () => waker();
      signal.addEventListener("abort", stop, { once: true });
      try {
        await new Promise<void>((resolve) => {
          waker = resolve;
          wakers.add(waker);
        });
      } finally {
        wakers.delete(waker);
        signal.removeEventListener("abort", stop);
      }
    },
  };
}

const compare = (a: Cursor, b: Cursor): number => a.index - b.index || a.n - b.n;

const gone = () =>
  new ProblemError("cursor_gone", {
    detail: "Events after this cursor are no longer stored.",
    hint: "List the current state, then watch from the log_index the list answers with.",
  });
