// Agents that connect while no server leads. If they were refused, all of them would reconnect several times while a new
// leader is starting, so they wait here unread and are admitted in small groups once there is a leader. Agents that wait
// too long, or find the room full, are refused and try another server.

import { duration, type Instant } from "@lattice/core";
import { type Clock, monotonicNow } from "../base/clock.ts";

/** Shorter than the time for which an agent waits for its welcome. */
const MAX_WAIT = duration(8_000);
/** Idle streams are cheap; a cluster has at most some ten thousand nodes. */
const MAX_WAITING = 20_000;
/** Admitted at once; other work runs between two groups. */
const GROUP = 32;
const CHECK_INTERVAL = duration(25);

interface Visitor {
  /** Called when there is a leader. */
  enter(): void;
  /** Called when the wait is over without a leader. */
  refuse(): void;
}

interface WaitingRoom {
  /** Returns a function that leaves the room. */
  wait(visitor: Visitor): () => void;
  readonly size: number;
  close(): void;
}

interface Options {
  readonly clock: Clock;
  /** Whether some server leads. */
  readonly open: () => boolean;
  readonly limit?: number;
}

export function createWaitingRoom({ clock, open, limit = MAX_WAITING }: Options): WaitingRoom {
  /** In order of arrival. */
  const waiting = new Map<Visitor, Instant>();
  let cancelCheck: (() => void) | null = null;
  let admitting = false;

  return {
    wait(visitor) {
      if (waiting.size >= limit) {
        visitor.refuse();
        return () => {};
      }
      waiting.set(visitor, monotonicNow(clock));
      checkLater();
      return () => waiting.delete(visitor);
    },
    get size() {
      return waiting.size;
    },
    close() {
      cancelCheck?.();
      cancelCheck = null;
      for (const visitor of take(waiting.size)) visitor.refuse();
    },
  };

  function checkLater(): void {
    cancelCheck ??= clock.after(CHECK_INTERVAL, check);
  }

  function check(): void {
    cancelCheck = null;
    refuseExpired();
    if (open() && !admitting) void admit();
    if (waiting.size > 0) checkLater();
  }

  function refuseExpired(): void {
    const now = monotonicNow(clock);
    for (const [visitor, since] of waiting) {
      if (now - since < MAX_WAIT) return;
      waiting.delete(visitor);
      visitor.refuse();
    }
  }

  async function admit(): Promise<void> {
    admitting = true;
    while (waiting.size > 0 && open()) {
      for (const visitor of take(GROUP)) visitor.enter();
      await clock.turn();
    }
    admitting = false;
  }

  function take(count: number): Visitor[] {
    const taken: Visitor[] = [];
    for (const visitor of waiting.keys()) {
      if (taken.length >= count) break;
      taken.push(visitor);
    }
    for (const visitor of taken) waiting.delete(visitor);
    return taken;
  }
}
