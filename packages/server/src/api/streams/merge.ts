// Several sources as one, in the order in which their items arrive. Each source is asked for one
// item at a time and only again once that item was taken, so that a slow reader holds back every
// source and memory stays bounded by their number.

export async function* merge<T>(sources: readonly AsyncIterable<T>[]): AsyncGenerator<T> {
  const iterators = sources.map((source) => source[Symbol.asyncIterator]());
  const waiting = new Map(iterators.map((iterator, i) => [i, take(iterator, i)]));
  try {
    while (waiting.size > 0) {
      const { i, result } = await Promise.race(waiting.values());
      const iterator = iterators[i];
      if (result.done === true || iterator === undefined) {
        waiting.delete(i);
        continue;
      }
      yield result.value;
      waiting.set(i, take(iterator, i));
    }
  } finally {
    // The others may be in the middle of a wait that only an abort ends; they are told, not awaited.
    for (const [i, pending] of waiting) {
      pending.catch(() => undefined);
      iterators[i]?.return?.().catch(() => undefined);
    }
  }
}

const take = async <T>(iterator: AsyncIterator<T>, i: number) => ({ i, result: await iterator.next() });
