// Work that several callers wait for: the first starts it, others join, and it is aborted when no caller waits.
// Cancelling one attempt does not cancel the pull for another.

interface SharedWork<T> {
  join(key: string, begin: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T>;
}

interface Piece<T> {
  readonly done: Promise<T>;
  readonly abort: AbortController;
  waiting: number;
}

export function sharedWork<T>(): SharedWork<T> {
  const pieces = new Map<string, Piece<T>>();

  function beginPiece(key: string, begin: (signal: AbortSignal) => Promise<T>): Piece<T> {
    const abort = new AbortController();
    const done = begin(abort.signal).finally(() => pieces.delete(key));
    // Every waiting caller receives the error; without callers the work was aborted.
    done.catch(() => undefined);
    const piece: Piece<T> = { done, abort, waiting: 0 };
    pieces.set(key, piece);
    return piece;
  }

  return {
    async join(key, begin, signal) {
      signal.throwIfAborted();
      const piece = pieces.get(key) ?? beginPiece(key, begin);
      piece.waiting += 1;
      let leave = (): void => undefined;
      const left = new Promise<never>((_, reject) => {
        leave = () => reject(signal.reason);
        signal.addEventListener("abort", leave, { once: true });
      });
      try {
        return await Promise.race([piece.done, left]);
      } finally {
        signal.removeEventListener("abort", leave);
        piece.waiting -= 1;
        if (piece.waiting === 0) {
          piece.abort.abort();
          if (pieces.get(key) === piece) pieces.delete(key);
        }
      }
    },
  };
}
