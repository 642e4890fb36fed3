// Time from now on in slots that grow: half a minute at first, then each a fixed factor longer, up to eight years. The
// precision of an instant fits its distance.

export interface TimeSlots {
  readonly count: number;
  /** The start of the slot. */
  at(slot: number): number;
  /** The slot that contains the instant; the last one for anything later. */
  of(instant: number): number;
  /** The first slot that starts at the instant or after it; `count` when there is none. */
  firstAfter(instant: number): number;
  /** The slot after the last one that a job started in `start` reaches into. */
  endOf(start: number, length: number): number;
  /** The same by start, for each length: 0 where the caller has not computed it yet. */
  endsOf(length: number): Uint16Array;
  /** The part of that last slot that the job reaches into, above 0 and at most 1. */
  lastShare(start: number, length: number): number;
  /** The first slot at least as wide as the length. */
  firstAsWide(length: number): number;
  /** The last slot is infinitely wide. */
  width(slot: number): number;
}

const COUNT = 192;
const FIRST_MS = 30_000;
const GROWTH = 1.072;

/** Lengths whose ends are remembered; most walltimes are round figures. */
const LENGTH_LIMIT = 1_000;

export function createTimeSlots(now: number): TimeSlots {
  const begins = new Float64Array(COUNT);
  let next = FIRST_MS;
  begins[0] = now;
  for (let slot = 1; slot < COUNT; slot += 1) {
    begins[slot] = Math.round((begins[slot - 1] as number) + next);
    next *= GROWTH;
  }
  const firstAfter = (instant: number): number => {
    let low = 0;
    let high = COUNT;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((begins[middle] as number) < instant) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const width = (slot: number): number =>
    slot + 1 < COUNT ? (begins[slot + 1] as number) - (begins[slot] as number) : Number.POSITIVE_INFINITY;
  const firstAsWide = (length: number): number => {
    let low = 0;
    let high = COUNT - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (width(middle) < length) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const endOf = (start: number, length: number): number =>
    Math.max(start + 1, firstAfter((begins[start] as number) + length));
  const known = new Map<number, Uint16Array>();
  const endsOf = (length: number): Uint16Array => {
    const ends = known.get(length) ?? new Uint16Array(COUNT);
    if (known.size < LENGTH_LIMIT) known.set(length, ends);
    return ends;
  };
  return {
    count: COUNT,
    at: (slot) => begins[slot] as number,
    of: (instant) => Math.max(0, firstAfter(instant + 1) - 1),
    firstAfter,
    endOf,
    endsOf,
    lastShare(start, length) {
      const last = endOf(start, length) - 1;
      const reached = (begins[start] as number) + length - (begins[last] as number);
      return last + 1 >= COUNT ? 1 : Math.min(1, Math.max(0.001, reached / width(last)));
    },
    firstAsWide,
    width,
  };
}
