// f2, protection from starvation: log(1 + wait / reference). It grows without bound, but slowly enough not to outweigh
// the other factors.

import type { Duration } from "@lattice/core";
import { LEAST_REFERENCE_WAIT, REFERENCE_WAIT, UNBOUNDED_REFERENCE_WAIT } from "../base/bounds.ts";
import type { WaitMeasure } from "../input/cycle-input.ts";

export const waitTime = (waited: Duration, reference: Duration = REFERENCE_WAIT): number =>
  Math.log1p(Math.max(0, waited) / reference);

/** In proportion to the walltime, a minute's wait weighs on a short allocation and not on a long one. */
export function referenceWait(measure: WaitMeasure, walltime: Duration | null): Duration {
  if (measure === "elapsed") return REFERENCE_WAIT;
  if (walltime === null) return UNBOUNDED_REFERENCE_WAIT;
  return walltime > LEAST_REFERENCE_WAIT ? walltime : LEAST_REFERENCE_WAIT;
}
