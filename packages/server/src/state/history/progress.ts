// Decides when the progress file is written: with every flush, and every few hundred entries in between. It is never
// ahead of what is durable; when it is behind, a restarted server requests a few records that it already has.

/** Entries between two writes: the most that a restarted server requests again. */
const EVERY = 256;

interface ProgressWriter {
  /** Resolves when everything added is durable and the file shows it. */
  now(): Promise<void>;
  /** Writes in the background, when enough entries have passed. */
  soon(): void;
  /** Returns the entry up to which everything is durable. */
  flushed(): number;
}

interface Writing {
  /** Resolves when everything added so far is durable. */
  readonly flush: () => Promise<void>;
  readonly write: (through: number) => Promise<void>;
}

export function createProgressWriter(
  kept: number | null,
  through: () => number,
  { flush, write }: Writing,
): ProgressWriter {
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

  /** One after the other, so that an older value never replaces a newer one. */
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
      // The records stay in memory and are retried; the next flush reports the error.
      now().catch(() => undefined);
    },
    flushed: () => flushed,
  };
}
