// The order of requests to lattice-files. A user whose requests never end delays only itself: each key has a few requests
// under way, removals cannot take all places, and the queue is bounded.

/** Below the limits of the program, which refuses more. */
const MAX_PER_KEY = 8;
const MAX_REMOVALS = 96;
const MAX_TOTAL = 192;
const MAX_WAITING = 4_096;

interface Turn {
  readonly key: string;
  readonly isRemoval: boolean;
  readonly begin: () => void;
}

interface Turns {
  /** Calls `begin` at once or later; returns how to end the turn or give it up, or null when the queue is full. */
  take(turn: Turn): (() => void) | null;
}

export function createTurns(): Turns {
  const running = new Set<Turn>();
  const waiting = new Set<Turn>();
  const perKey = new Map<string, number>();
  let removals = 0;

  const fits = ({ key, isRemoval }: Turn): boolean =>
    running.size < MAX_TOTAL && (perKey.get(key) ?? 0) < MAX_PER_KEY && !(isRemoval && removals >= MAX_REMOVALS);

  function count({ key, isRemoval }: Turn, change: 1 | -1): void {
    const now = (perKey.get(key) ?? 0) + change;
    if (now === 0) perKey.delete(key);
    else perKey.set(key, now);
    if (isRemoval) removals += change;
  }

  function begin(turn: Turn): void {
    running.add(turn);
    count(turn, 1);
    turn.begin();
  }

  function end(turn: Turn): void {
    waiting.delete(turn);
    if (!running.delete(turn)) return;
    count(turn, -1);
    for (const next of waiting) {
      if (!fits(next)) continue;
      waiting.delete(next);
      begin(next);
      if (running.size >= MAX_TOTAL) return;
    }
  }

  return {
    take(turn) {
      if (waiting.size >= MAX_WAITING) return null;
      if (fits(turn)) begin(turn);
      else waiting.add(turn);
      return () => end(turn);
    },
  };
}
