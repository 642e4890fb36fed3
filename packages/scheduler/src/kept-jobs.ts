// What cycles have worked out about those that wait, by their place in the queue, from one cycle to the next: a look for each of a thousand
// in a table by object costs more than the rest of a small cycle. It is worth something on one floor only, whose matches tell.

import type { KeptJobs } from "./cycle-types.ts";
import type { Job } from "./job.ts";

/** Those made for the same matches, else none; by place in a queue of that length. */
export function jobsFor(kept: KeptJobs, matches: unknown, length: number): (Job | undefined)[] {
  if (kept.of !== matches || kept.list.length !== length) {
    kept.of = matches;
    kept.list = new Array(length);
  }
  // Nobody else puts anything in.
  return kept.list as (Job | undefined)[];
}
