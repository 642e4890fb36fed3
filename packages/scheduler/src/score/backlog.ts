// f6, the pressure of the queue, in [0, 1] and the same for everyone in it: work queued over work running,
// in node-hours. An idle machine with a queue is under full pressure.

import type { CycleInput } from "../cycle-types.ts";
import { WALLTIME_GRACE } from "../limits.ts";

export interface Backlog {
  readonly queued: number;
  readonly running: number;
}

export function backlog({ queued, running }: Backlog): number {
  if (queued <= 0) return 0;
  return running <= 0 ? 1 : Math.min(1, queued / running);
}

/** What never ends counts as a day: long, but not beyond comparison. */
const UNBOUNDED = 24 * 3_600_000;

/** In node-milliseconds; running work by what is left of it. */
export function backlogOf({ pending, releases, now }: CycleInput): Backlog {
  let queued = 0;
  for (const { minNodes, walltime } of pending) queued += minNodes * (walltime ?? UNBOUNDED);
  let running = 0;
  for (const { nodes, endsAt } of releases) {
    const left = endsAt === null ? UNBOUNDED : endsAt - now - WALLTIME_GRACE;
    running += nodes.length * Math.max(0, left);
  }
  return { queued, running };
}
