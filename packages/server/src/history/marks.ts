// When the mark of a history is written: with every flush, and every so many entries in between. It
// is never ahead of what is durable; behind it may be, and then a server that comes back asks for a
// few records that it has already.

/** Entries between two marks: what a crash makes a server ask for again, at most. */
const EVERY = 256;

export interface Marks {
  /** Resolves when all that has been handed over is durable, and the mark says so. */
  now(): Promise<void>;
  /** In the background, when enough entries have passed. */
  soon(): void;
  /** Up to here everything is durable, whatever waits. */
  flushed(): number;
}

interface Writing {
  /** Resolves when everything handed over so far is durable. */
  readonly flush: () => Promise<void>;
  readonly write: (through: number) => Promise<void>;
}

export function createMarks(kept: number | null, through: () => number, { flush, write }: Writing): Marks {
  let marked = kept;
  let flushed = kept ?? 0;
  let last: Promise<void> = Promise.resolve();
  let underWay = 0;

  const mark = async (): Promise<void> => {
    const upTo = through();
    await flush();
    flushed = Math.max(flushed, upTo);
    if (upTo === marked) return;
    await write(upTo);
    marked = upTo;
  };

  /** One after the other, so that an older mark never takes the place of a newer one. */
  const now = (): Promise<void> => {
    underWay += 1;
    const turn = last.then(mark);
    last = turn
      .catch(() => undefined)
      .then(() => {
        underWay -= 1;
      });
    return turn;
  };

  return {
    now,
    soon() {
      if (underWay > 0 || through() - (marked ?? -EVERY) < EVERY) return;
      // The records are kept in memory and tried again; whoever flushes hears why.
      now().catch(() => undefined);
    },
    flushed: () => flushed,
  };
}
