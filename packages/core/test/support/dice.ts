// Chance for histories: every choice follows from one number.

export type Dice = (sides: number) => number;

/** The stream of choices behind one command. */
export function dice(seed: number): Dice {
  let s = seed | 0;
  return (sides) => {
    s = (s + 0x6d2b79f5) | 0;
    let t = Math.imul(s ^ (s >>> 15), 1 | s);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % sides;
  };
}

export const pick = <T>(roll: Dice, items: readonly T[]): T | undefined => items[roll(items.length)];
