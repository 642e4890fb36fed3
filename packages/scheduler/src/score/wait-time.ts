// f2, protection from starvation: log(1 + wait / reference). It grows for as long as the wait
// does, without bound, but slowly enough not to drown the other factors.

import type { Duration } from "@lattice/core";
import { LEAST_REFERENCE_WAIT, REFERENCE_WAIT, UNBOUNDED_REFERENCE_WAIT } from "../limits.ts";

/** What a wait is measured against: the same for everyone, or what each asks for. */
export type WaitMeasure = "elapsed" | "proportional";

export const waitTime = (waited: Duration, reference: Duration = REFERENCE_WAIT): number =>
  Math.log1p(Math.max(0, waited) / reference);

/** In proportion to its walltime, a minute's wait weighs on a short allocation and not on a long one. */
export function referenceWait(measure: WaitMeasure, walltime: Duration | null): Duration {
  if (measure === "elapsed") return REFERENCE_WAIT;
  if (walltime === null) return UNBOUNDED_REFERENCE_WAIT;
  return walltime > LEAST_REFERENCE_WAIT ? walltime : LEAST_REFERENCE_WAIT;
}
