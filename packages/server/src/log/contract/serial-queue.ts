// Runs asynchronous tasks one after the other, in the order in which they were added. A failure rejects only the
// task's own promise; the next task still runs.

export interface SerialQueue {
  <T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when every task added so far has ended. */
  idle(): Promise<void>;
}

export function createSerialQueue(): SerialQueue {
  let last: Promise<unknown> = Promise.resolve();
  const run = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work, work);
    last = result.catch(() => undefined);
    return result;
  };
  const idle = async (): Promise<void> => {
    await last;
  };
  return Object.assign(run, { idle });
}
