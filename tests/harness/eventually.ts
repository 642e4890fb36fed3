// Waiting for something to become true, with a deadline that is generous because the machine may be
// slow, and a message that says what was seen last.

export interface Patience {
  readonly what: string;
  readonly withinMs?: number;
  readonly everyMs?: number;
}

const DEFAULT_WITHIN_MS = 60_000;
const DEFAULT_EVERY_MS = 25;

/** The first value that is not null. A look that throws counts as "not yet". */
export async function eventually<T>(patience: Patience, look: () => Promise<T | null> | T | null): Promise<T> {
  const deadline = Date.now() + (patience.withinMs ?? DEFAULT_WITHIN_MS);
  let last: unknown = null;
  for (;;) {
    try {
      const found = await look();
      if (found !== null) return found;
      last = null;
    } catch (error) {
      last = error;
    }
    if (Date.now() > deadline) {
      throw new Error(`never happened: ${patience.what}`, last === null ? {} : { cause: last });
    }
    await sleep(patience.everyMs ?? DEFAULT_EVERY_MS);
  }
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
