// Agents that call while nobody leads. Turning them away would bring every one of them back several
// times, all while a new leader has the most to do; so they wait here, unheard, until there is one,
// and are then let in a few at a time. Whoever waits too long, or finds the room full, is refused
// and tries another server.

import { duration, type Instant } from "@lattice/core";
import { type Clock, steadyNow } from "../base/clock.ts";

/** Shorter than an agent waits for its welcome. */
const PATIENCE = duration(8_000);
/** Streams that say nothing are cheap; a cluster has at most some ten thousand nodes. */
const MAX_WAITING = 20_000;
/** Let in at once; between two such groups everything else has its turn. */
const GROUP = 32;
const LOOK_EVERY = duration(25);

export interface Visitor {
  /** Called when there is a leader. */
  enter(): void;
  /** Called when there is none and will be none soon. */
  refuse(): void;
}

export interface WaitingRoom {
  /** Answers how to leave before being called. */
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
  let cancelLook: (() => void) | null = null;
  let letting = false;

  return {
    wait(visitor) {
      if (waiting.size >= limit) {
        visitor.refuse();
        return () => {};
      }
      waiting.set(visitor, steadyNow(clock));
      lookLater();
      return () => waiting.delete(visitor);
    },
    get size() {
      return waiting.size;
    },
    close() {
      cancelLook?.();
      cancelLook = null;
      for (const visitor of take(waiting.size)) visitor.refuse();
    },
  };

  function lookLater(): void {
    cancelLook ??= clock.after(LOOK_EVERY, look);
  }

  function look(): void {
    cancelLook = null;
    sendAwayImpatient();
    if (open() && !letting) void letIn();
    if (waiting.size > 0) lookLater();
  }

  function sendAwayImpatient(): void {
    const now = steadyNow(clock);
    for (const [visitor, since] of waiting) {
      if (now - since < PATIENCE) return;
      waiting.delete(visitor);
      visitor.refuse();
    }
  }

  async function letIn(): Promise<void> {
    letting = true;
    while (waiting.size > 0 && open()) {
      for (const visitor of take(GROUP)) visitor.enter();
      await clock.turn();
    }
    letting = false;
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
