// How much of its input the first rank has, so that what is sent again is taken once. Pure.

export interface InputPlace {
  /** So many bytes came before those that are next. */
  at(offset: number): void;
  /** Of these, what has not come yet. */
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
