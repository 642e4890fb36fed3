// Waits and work by user or by tenant.

import type { Outcomes } from "../policy/base/policy.ts";
import type { Trace } from "../trace/trace.ts";
import { boundedSlowdown } from "./slowdown.ts";

export interface Figures {
  readonly name: string;
  readonly jobs: number;
  /** Part of all work done, 0 to 1. */
  readonly workShare: number;
  readonly meanWaitSeconds: number;
  readonly meanBoundedSlowdown: number;
}

/** The owners of jobs: names, and the index of the name of each job. */
interface Owners {
  readonly names: readonly string[];
  readonly owner: Int32Array;
}

export const byUser = ({ users, user }: Trace): Owners => ({ names: users, owner: user });

export const byTenant = ({ tenants, tenant }: Trace): Owners => ({ names: tenants, owner: tenant });

/** Returns all owners of a job, most work first, then by name. */
export function figuresOf(trace: Trace, { start }: Outcomes, { names, owner }: Owners): Figures[] {
  const jobs = new Float64Array(names.length);
  const work = new Float64Array(names.length);
  const wait = new Float64Array(names.length);
  const slowdown = new Float64Array(names.length);
  let all = 0;
  for (let row = 0; row < trace.count; row += 1) {
    const whose = owner[row] as number;
    const waited = (start[row] as number) - (trace.submit[row] as number);
    const run = trace.run[row] as number;
    const done = run * (trace.size[row] as number);
    jobs[whose] = (jobs[whose] as number) + 1;
    work[whose] = (work[whose] as number) + done;
    wait[whose] = (wait[whose] as number) + waited;
    slowdown[whose] = (slowdown[whose] as number) + boundedSlowdown(waited, run);
    all += done;
  }
  return names
    .map((name, whose) => ({
      name,
      jobs: jobs[whose] as number,
      workShare: all === 0 ? 0 : (work[whose] as number) / all,
      meanWaitSeconds: (wait[whose] as number) / (jobs[whose] as number),
      meanBoundedSlowdown: (slowdown[whose] as number) / (jobs[whose] as number),
    }))
    .filter((figures) => figures.jobs > 0)
    .sort((a, b) => b.workShare - a.workShare || (a.name < b.name ? -1 : 1));
}
