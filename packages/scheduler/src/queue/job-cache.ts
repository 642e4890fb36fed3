// Jobs of pending allocations by index in the queue, across cycles: a lookup by object for each of a thousand jobs
// costs more than the rest of a small cycle. Valid only for the hardware index it was built from.

import type { Job } from "../fit/job.ts";
import type { JobCache } from "../input/cycle-input.ts";

/** Returns the jobs built for the same matches; none otherwise. By index in a queue of this length. */
export function jobsFor(cache: JobCache, matches: unknown, length: number): (Job | undefined)[] {
  if (cache.builtFor !== matches || cache.jobs.length !== length) {
    cache.builtFor = matches;
    cache.jobs = new Array(length);
  }
  // Only the queue writes into the cache.
  return cache.jobs as (Job | undefined)[];
}
