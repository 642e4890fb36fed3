// The arrays by node that a plan is made in. Whoever runs cycle after cycle and keeps none of them may have
// one set serve all: making them anew for every cycle of a large cluster costs more than filling them.

import { wordsFor } from "./bits.ts";

export interface Space {
  readonly size: number;
  /** When each node can be had: as the cycle begins, and as the plan has it. */
  readonly availableFrom: Float64Array;
  readonly plannedFrom: Float64Array;
  /** By node: 1 where it is free. */
  readonly free: Uint8Array;
  readonly freeNodes: Int32Array;
  /** When each node is first promised away. */
  readonly firsts: Float64Array;
  readonly marks: Marking;
  /** One bit for each node. */
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
    free: new Uint8Array(size),
    freeNodes: new Int32Array(size),
    firsts: new Float64Array(size),
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
