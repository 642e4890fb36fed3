// Runs pieces of asynchronous work one after the other, in the order they were handed in. A
// failure is the business of whoever handed that piece in; the next one runs all the same.

export interface InTurn {
  <T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when everything handed in so far has ended. */
  idle(): Promise<void>;
}

export function createInTurn(): InTurn {
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
