// Waiting for something to become true, with a deadline that is generous because the machine may be
// slow, and a message that says what was seen last. Looks become rarer the longer it takes, and as rare
// as they are dear: whoever waits is not to keep those busy that are waited for.

export interface Patience {
  readonly what: string;
  readonly withinMs?: number;
  /** Absent: often at first, then more and more rarely. */
  readonly everyMs?: number;
}

const DEFAULT_WITHIN_MS = 120_000;
const SHORTEST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 200;
/** Of the time that has passed: by so much later than it happened something is seen. */
const PAUSE_SHARE = 0.1;

/** The first value that is not null. A look that throws counts as "not yet". */
export async function eventually<T>(patience: Patience, look: () => Promise<T | null> | T | null): Promise<T> {
  const began = Date.now();
  const deadline = began + (patience.withinMs ?? DEFAULT_WITHIN_MS);
  let last: unknown = null;
  for (;;) {
    const looked = Date.now();
    try {
      const found = await look();
      if (found !== null) return found;
      last = null;
    } catch (error) {
      last = error;
    }
    const now = Date.now();
    if (now > deadline) {
      throw new Error(`never happened: ${patience.what}`, last === null ? {} : { cause: last });
    }
    await sleep(patience.everyMs ?? pauseFor({ lookMs: now - looked, waitedMs: now - began }));
  }
}

function pauseFor({ lookMs, waitedMs }: { readonly lookMs: number; readonly waitedMs: number }): number {
  return Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, lookMs, waitedMs * PAUSE_SHARE));
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
