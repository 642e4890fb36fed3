// The arrays by node that a plan is made in. Whoever runs cycle after cycle and keeps none of them may have
// one set serve all: making them anew for every cycle of a large cluster costs more than filling them.

import { wordsFor } from "./bits.ts";

export interface Space {
  readonly size: number;
  /** When each node can be had: as the cycle begins, and as the plan has it. */
  readonly availableFrom: Float64Array;
  readonly plannedFrom: Float64Array;
  /** One bit for each node that is free: as the cycle begins, and as the plan has it. */
  readonly free: Uint32Array;
  readonly plannedFree: Uint32Array;
  /** One bit for each node that is promised away before some instant. */
  readonly held: Uint32Array;
  /** Likewise of those promised away within some interval, and of those back by some instant. */
  readonly closed: Uint32Array;
  readonly back: Uint32Array;
  readonly marks: Marking;
  /** One bit for each node, for whoever needs one for a moment. */
  readonly bits: Uint32Array;
}

/** Nodes are marked with a number; the next number makes all of them unmarked again. */
export interface Marking {
  readonly of: Uint32Array;
  next(): number;
}

export function createSpace(size: number): Space {
  return {
    size,
    availableFrom: new Float64Array(size),
    plannedFrom: new Float64Array(size),
    free: new Uint32Array(wordsFor(size)),
    plannedFree: new Uint32Array(wordsFor(size)),
    held: new Uint32Array(wordsFor(size)),
    closed: new Uint32Array(wordsFor(size)),
    back: new Uint32Array(wordsFor(size)),
    marks: createMarking(size),
    bits: new Uint32Array(wordsFor(size)),
  };
}

/** The one that the cycle before has left, where it still fits; this cycle leaves it to the next. */
export function spaceLeft(reuse: { space: Space | null }, size: number): Space {
  if (reuse.space?.size !== size) reuse.space = createSpace(size);
  return reuse.space;
}

const LAST_MARK = 0xffff_ffff;

function createMarking(size: number): Marking {
  const of = new Uint32Array(size);
  let mark = 0;
  return {
    of,
    next() {
      if (mark === LAST_MARK) {
        of.fill(0);
        mark = 0;
      }
      mark += 1;
      return mark;
    },
  };
}
