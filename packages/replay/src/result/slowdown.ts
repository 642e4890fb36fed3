// The bounded slowdown of a job: turnaround over run time; the bound keeps very short jobs from dominating a mean.

/** The usual bound, in seconds. */
const SLOWDOWN_BOUND = 10;

export const boundedSlowdown = (waited: number, run: number): number =>
  Math.max(1, (waited + run) / Math.max(run, SLOWDOWN_BOUND));
