// Compares the state hashes of the planner with those of the replica at the same entries. Either side may record a hash
// first, so hashes without a counterpart wait for the next comparison.

import type { StateMark } from "../../state/replica/hash-series.ts";

/** As many as a replica keeps. */
const WAITING_LIMIT = 64;

export function createMarkComparison(own: () => readonly StateMark[]) {
  let waiting: readonly StateMark[] = [];
  let hasDiffered = false;
  return {
    /** Returns the first entry at which the hashes differ, or `null`. */
    add(marks: readonly StateMark[]): number | null {
      const known = new Map(own().map(({ index, hash }) => [index, hash]));
      const all = [...waiting, ...marks];
      const wrong = all.find(({ index, hash }) => known.has(index) && known.get(index) !== hash);
      waiting = all.filter(({ index }) => !known.has(index)).slice(-WAITING_LIMIT);
      hasDiffered ||= wrong !== undefined;
      return wrong?.index ?? null;
    },
    differs: () => hasDiffered,
  };
}
