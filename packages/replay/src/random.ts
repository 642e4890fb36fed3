// Seeded random numbers, equal on every machine (mulberry32). Streams with different names are independent: drawing
// more from one does not change another.

export interface Random {
  /** In [0, 1). */
  next(): number;
  /** An integer, both ends included. */
  whole(least: number, most: number): number;
  /** Exponential with this mean. */
  exponential(mean: number): number;
  pick<T>(from: readonly T[]): T;
}

export function randomFrom(seed: number, stream = ""): Random {
  let state = seed >>> 0;
  for (let i = 0; i < stream.length; i += 1) state = Math.imul(state ^ stream.charCodeAt(i), 0x01000193) >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  return {
    next,
    whole: (least, most) => least + Math.floor(next() * (most - least + 1)),
    exponential: (mean) => -mean * Math.log(1 - next()),
    pick: (from) => from[Math.floor(next() * from.length)] as (typeof from)[number],
  };
}
