// f2, protection from starvation: log(1 + wait / reference). It grows for as long as the wait
// does, without bound, but slowly enough not to drown the other factors.

import type { Duration } from "@lattice/core";
import { REFERENCE_WAIT } from "../limits.ts";

export const waitTime = (waited: Duration): number => Math.log1p(Math.max(0, waited) / REFERENCE_WAIT);
