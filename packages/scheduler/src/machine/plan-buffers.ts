// The arrays by node that a plan is made in. Cycles that keep no decision share one set: allocating them in every cycle
// of a large cluster costs more than filling them.

import { wordsFor } from "../base/bits.ts";
import type { CycleCache } from "../input/cycle-cache.ts";

export interface PlanBuffers {
  readonly size: number;
  /** When each node is available: at the start of the cycle, and according to the plan. */
  readonly availableFrom: Float64Array;
  readonly plannedFrom: Float64Array;
  /** One bit for each free node: at the start of the cycle, and according to the plan. */
  readonly free: Uint32Array;
  readonly plannedFree: Uint32Array;
  /** One bit for each node that is reserved before an instant. */
  readonly reservedBefore: Uint32Array;
  /** One bit for each node that is reserved within an interval, and for each node released by an instant. */
  readonly reservedWithin: Uint32Array;
  readonly released: Uint32Array;
  readonly marks: NodeMarker;
  /** Scratch bits for one computation. */
  readonly bits: Uint32Array;
}

/** Marks nodes with a number; the next number unmarks all of them. */
interface NodeMarker {
  readonly of: Uint32Array;
  next(): number;
}

export function createPlanBuffers(size: number): PlanBuffers {
  return {
    size,
    availableFrom: new Float64Array(size),
    plannedFrom: new Float64Array(size),
    free: new Uint32Array(wordsFor(size)),
    plannedFree: new Uint32Array(wordsFor(size)),
    reservedBefore: new Uint32Array(wordsFor(size)),
    reservedWithin: new Uint32Array(wordsFor(size)),
    released: new Uint32Array(wordsFor(size)),
    marks: createMarking(size),
    bits: new Uint32Array(wordsFor(size)),
  };
}

/** Returns the buffers of the previous cycle with this cache, if their size still fits. */
export function cachedBuffers(cache: CycleCache, size: number): PlanBuffers {
  const known = buffersByCache.get(cache);
  if (known?.size === size) return known;
  const buffers = createPlanBuffers(size);
  buffersByCache.set(cache, buffers);
  return buffers;
}

const buffersByCache = new WeakMap<CycleCache, PlanBuffers>();

const LAST_MARK = 0xffff_ffff;

function createMarking(size: number): NodeMarker {
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
