// Refuses calls whose first message does not arrive in time, so that a slow client holds resources no longer than with
// a slow request over REST. One timer serves all calls.

export interface SlowCalls {
  /** Calls `refuse` after the timeout, unless the returned function was called before. */
  begin(refuse: () => void): () => void;
  /** The number of calls whose first message is outstanding. */
  readonly waiting: number;
  close(): void;
}

interface Waiting {
  readonly sinceMs: number;
  readonly refuse: () => void;
}

/** Checks per timeout, so that no call exceeds the timeout by much. */
const CHECKS_PER_TIMEOUT = 4;

export function createSlowCalls(withinMs: number, now: () => number = () => performance.now()): SlowCalls {
  /** In order of arrival. */
  const waiting = new Set<Waiting>();
  const timer = setInterval(() => {
    const before = now() - withinMs;
    for (const call of waiting) {
      if (call.sinceMs > before) return;
      waiting.delete(call);
      call.refuse();
    }
  }, withinMs / CHECKS_PER_TIMEOUT);
  timer.unref();
  return {
    begin(refuse) {
      const call = { sinceMs: now(), refuse };
      waiting.add(call);
      return () => void waiting.delete(call);
    },
    get waiting() {
      return waiting.size;
    },
    close: () => clearInterval(timer),
  };
}
