// f6, the pressure of the queue, in [0, 1], equal for all its jobs: queued work over running work, in node-hours. An
// idle machine with a queue has the highest pressure.

import { WALLTIME_GRACE } from "../base/bounds.ts";
import type { CycleInput } from "../input/cycle-input.ts";

interface Backlog {
  readonly queued: number;
  readonly running: number;
}

export function backlog({ queued, running }: Backlog): number {
  if (queued <= 0) return 0;
  return running <= 0 ? 1 : Math.min(1, queued / running);
}

/** Unbounded work counts as a day. */
const UNBOUNDED = 24 * 3_600_000;

/** Returns node-milliseconds; running work counts by its remaining time. */
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
