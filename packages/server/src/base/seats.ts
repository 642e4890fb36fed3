// Counts what is in use by a name, usually a user's: open streams, terminals, launches. It refuses nothing; callers
// compare the count with their limit.

interface Seats {
  /** The number of seats taken under all names. */
  readonly count: number;
  of(name: string): number;
  /** Takes a seat; the returned function gives it back, once. */
  take(name: string): () => void;
}

export function createSeats(): Seats {
  const taken = new Map<string, number>();
  let count = 0;
  return {
    get count() {
      return count;
    },
    of: (name) => taken.get(name) ?? 0,
    take(name) {
      let isTaken = true;
      count += 1;
      taken.set(name, (taken.get(name) ?? 0) + 1);
      return () => {
        if (!isTaken) return;
        isTaken = false;
        count -= 1;
        const left = (taken.get(name) ?? 1) - 1;
        if (left > 0) taken.set(name, left);
        else taken.delete(name);
      };
    },
  };
}
