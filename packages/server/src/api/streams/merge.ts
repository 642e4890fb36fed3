// Merges several sources in order of arrival. Each source is read one item at a time, and again only when that item was
// consumed, so that a slow reader slows every source and memory stays bounded. Promise.race is not used: it would add
// a callback to the promise of an idle source for every item of the others.

type Arrived<T> = { readonly i: number; readonly result: IteratorResult<T> } | { readonly error: unknown };

export async function* merge<T>(sources: readonly AsyncIterable<T>[]): AsyncGenerator<T> {
  const iterators = sources.map((source) => source[Symbol.asyncIterator]());
  const arrived: Arrived<T>[] = [];
  let left = iterators.length;
  let wake: () => void = () => {};

  const ask = (i: number): void => {
    const arrive = (what: Arrived<T>): void => {
      arrived.push(what);
      wake();
    };
    iterators[i]?.next().then(
      (result) => arrive({ i, result }),
      (error: unknown) => arrive({ error }),
    );
  };

  for (const i of iterators.keys()) ask(i);
  try {
    while (left > 0) {
      const next = arrived.shift();
      if (next === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      if ("error" in next) throw next.error;
      if (next.result.done === true) {
        left -= 1;
        continue;
      }
      yield next.result.value;
      ask(next.i);
    }
  } finally {
    // A source may be in a wait that only an abort ends, so it is not awaited.
    for (const iterator of iterators) iterator.return?.().catch(() => undefined);
  }
}
