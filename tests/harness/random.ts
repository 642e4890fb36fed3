// Random numbers from a seed that is printed, so that a failing run can be repeated:
// LATTICE_TEST_SEED=<number> npm test -- <file>.

export interface Random {
  readonly seed: number;
  /** Returns a whole number from `least` to `most`, inclusive. */
  between(least: number, most: number): number;
}

export function seededRandom(what: string): Random {
  const given = process.env.LATTICE_TEST_SEED;
  const seed = given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given);
  console.log(`${what}: LATTICE_TEST_SEED=${seed}`);
  const next = mulberry32(seed);
  return { seed, between: (least, most) => least + Math.floor(next() * (most - least + 1)) };
}

/** Returns a generator of numbers in [0, 1). mulberry32 is small and good enough for tests. */
export function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
