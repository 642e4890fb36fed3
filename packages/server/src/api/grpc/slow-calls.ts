// Calls whose message does not come. A stream may be opened and then fed byte by byte, or not at all; what has not sent its first
// message in time is refused, so that it holds nothing for longer than a slow request over REST. One timer serves all of them.

export interface SlowCalls {
  /** `refuse` is called when the time is over, unless the function that comes back was called before. */
  begin(refuse: () => void): () => void;
  /** Calls that are waited for now. */
  readonly waiting: number;
  close(): void;
}

interface Waiting {
  readonly sinceMs: number;
  readonly refuse: () => void;
}

/** Checks per timeout, so that no call exceeds the timeout by much. */
const LOOKS = 4;

export function createSlowCalls(withinMs: number, now: () => number = () => performance.now()): SlowCalls {
  /** In the order in which they came. */
  const waiting = new Set<Waiting>();
  const timer = setInterval(() => {
    const before = now() - withinMs;
    for (const call of waiting) {
      if (call.sinceMs > before) return;
      waiting.delete(call);
      call.refuse();
    }
  }, withinMs / LOOKS);
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
