// Polls until a condition holds, with a generous deadline for slow machines and the last error as cause. Polls become
// rarer with time and with their cost, so that waiting does not slow the waited-for processes down.

export interface WaitOptions {
  readonly what: string;
  readonly withinMs?: number;
  /** Default: often at first, then less and less. */
  readonly everyMs?: number;
}

const DEFAULT_WITHIN_MS = 120_000;
const MIN_PAUSE_MS = 20;
const MAX_PAUSE_MS = 200;
/** Fraction of the elapsed time: the maximum delay until a change is seen. */
const PAUSE_SHARE = 0.1;

/** Returns the first value that is not null. A poll that throws counts as "not yet". */
export async function eventually<T>(options: WaitOptions, poll: () => Promise<T | null> | T | null): Promise<T> {
  const startedAt = Date.now();
  const deadline = startedAt + (options.withinMs ?? DEFAULT_WITHIN_MS);
  let last: unknown = null;
  for (;;) {
    const polledAt = Date.now();
    try {
      const found = await poll();
      if (found !== null) return found;
      last = null;
    } catch (error) {
      last = error;
    }
    const now = Date.now();
    if (now > deadline) {
      throw new Error(`never happened: ${options.what}`, last === null ? {} : { cause: last });
    }
    await sleep(options.everyMs ?? pauseFor({ pollMs: now - polledAt, waitedMs: now - startedAt }));
  }
}

function pauseFor({ pollMs, waitedMs }: { readonly pollMs: number; readonly waitedMs: number }): number {
  return Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, pollMs, waitedMs * PAUSE_SHARE));
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
