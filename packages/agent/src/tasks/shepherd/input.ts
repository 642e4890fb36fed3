// Tracks how much input the first rank has, so that repeated input is delivered once. Pure.

interface InputPlace {
  /** Sets the offset of the next input. */
  at(offset: number): void;
  /** Returns the part that has not been delivered yet. */
  fresh(data: Uint8Array): Uint8Array;
}

export function inputPlace(): InputPlace {
  let have = 0;
  let next = 0;
  return {
    at(offset) {
      next = offset;
    },
    fresh(data) {
      const known = Math.min(data.length, Math.max(0, have - next));
      next += data.length;
      have = Math.max(have, next);
      return data.subarray(known);
    },
  };
}
