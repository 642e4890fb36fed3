// The same figures per user: who waited, who worked.

import type { Outcomes } from "../policy/policy.ts";
import type { Trace } from "../trace/trace.ts";
import { boundedSlowdown } from "./slowdown.ts";

export interface UserFigures {
  readonly name: string;
  readonly jobs: number;
  /** Part of all work done, 0 to 1. */
  readonly workShare: number;
  readonly meanWaitSeconds: number;
  readonly meanBoundedSlowdown: number;
}

/** Everyone with a job, most work first, then by name. */
export function userFigures(trace: Trace, { start }: Outcomes): UserFigures[] {
  const jobs = new Float64Array(trace.users.length);
  const work = new Float64Array(trace.users.length);
  const wait = new Float64Array(trace.users.length);
  const slowdown = new Float64Array(trace.users.length);
  let all = 0;
  for (let row = 0; row < trace.count; row += 1) {
    const user = trace.user[row] as number;
    const waited = (start[row] as number) - (trace.submit[row] as number);
    const run = trace.run[row] as number;
    const done = run * (trace.size[row] as number);
    jobs[user] = (jobs[user] as number) + 1;
    work[user] = (work[user] as number) + done;
    wait[user] = (wait[user] as number) + waited;
    slowdown[user] = (slowdown[user] as number) + boundedSlowdown(waited, run);
    all += done;
  }
  return trace.users
    .map((name, user) => ({
      name,
      jobs: jobs[user] as number,
      workShare: all === 0 ? 0 : (work[user] as number) / all,
      meanWaitSeconds: (wait[user] as number) / (jobs[user] as number),
      meanBoundedSlowdown: (slowdown[user] as number) / (jobs[user] as number),
    }))
    .filter((user) => user.jobs > 0)
    .sort((a, b) => b.workShare - a.workShare || (a.name < b.name ? -1 : 1));
}
