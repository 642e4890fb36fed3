// Traces for the tests: hand-written jobs, SWF lines, and a seeded random workload.

import { randomFrom } from "../src/random.ts";
import { idOf, type Trace, userOf } from "../src/trace/trace.ts";

export interface JobFields {
  readonly submit: number;
  readonly run: number;
  readonly nodes: number;
  readonly request?: number;
  readonly user?: string;
  /** Else the user. */
  readonly tenant?: string;
  readonly priority?: number;
}

export interface TestJob {
  readonly id: string;
  readonly user: string;
  readonly submit: number;
  readonly run: number;
  readonly request: number;
  readonly nodes: number;
  readonly priority: number;
}

/** The jobs in the order given, numbered from 1. */
export function traceOfJobs(nodes: number, jobs: readonly JobFields[]): Trace {
  const users = [...new Set(jobs.map((job) => job.user ?? "ada"))];
  const tenantOf = (job: JobFields): string => job.tenant ?? job.user ?? "ada";
  const tenants = [...new Set(jobs.map(tenantOf))];
  return {
    count: jobs.length,
    ids: jobs.map((_, i) => String(i + 1)),
    users,
    user: Int32Array.from(jobs, (job) => users.indexOf(job.user ?? "ada")),
    tenants,
    tenant: Int32Array.from(jobs, (job) => tenants.indexOf(tenantOf(job))),
    limits: [],
    submit: Float64Array.from(jobs, (job) => job.submit),
    run: Float64Array.from(jobs, (job) => job.run),
    request: Float64Array.from(jobs, (job) => job.request ?? job.run),
    size: Int32Array.from(jobs, (job) => job.nodes),
    priority: Uint8Array.from(jobs, (job) => job.priority ?? 5),
    requests: null,
    nodes,
    machine: [],
    vclusters: [],
    dropped: { noSize: 0, noRunTime: 0, tooLarge: 0 },
    warnings: [],
  };
}

/** The rows of a trace as records. */
export const jobsOf = (trace: Trace): TestJob[] =>
  Array.from({ length: trace.count }, (_, row) => ({
    id: idOf(trace, row),
    user: userOf(trace, row),
    submit: trace.submit[row] ?? Number.NaN,
    run: trace.run[row] ?? Number.NaN,
    request: trace.request[row] ?? Number.NaN,
    nodes: trace.size[row] ?? Number.NaN,
    priority: trace.priority[row] ?? Number.NaN,
  }));

/** One line of Standard Workload Format with the fields that are used. */
export const swfLine = (id: number, { submit, run, nodes, request, user }: JobFields): string =>
  [id, submit, -1, run, nodes, -1, -1, nodes, request ?? run, -1, 1, user ?? 1, -1, -1, -1, -1, -1, -1].join(" ");

/** A busy machine: arrivals about as fast as the work can be done. */
export function seededJobs(seed: number, count: number, nodes: number): JobFields[] {
  const random = randomFrom(seed);
  let submit = 0;
  return Array.from({ length: count }, () => {
    submit += random.whole(0, 120);
    const run = random.whole(1, 1200);
    const size = random.next() < 0.6 ? random.whole(1, Math.max(1, nodes >> 3)) : random.whole(1, nodes);
    const request = run + random.whole(0, 2) * random.whole(1, 900);
    return { submit, run, nodes: size, request, user: `user${random.whole(1, 5)}` };
  });
}
