// Traces for the tests: hand-written jobs, SWF lines, and a seeded random workload.

import type { Trace, TraceJob } from "../src/index.ts";

export interface JobFields {
  readonly submit: number;
  readonly run: number;
  readonly nodes: number;
  readonly request?: number;
  readonly user?: string;
}

export const traceJob = (id: number, { submit, run, nodes, request, user }: JobFields): TraceJob => ({
  id: String(id),
  user: user ?? "ada",
  submit,
  run,
  request: request ?? run,
  nodes,
  priority: 5,
});

export const traceOfJobs = (nodes: number, jobs: readonly JobFields[]): Trace => ({
  jobs: jobs.map((fields, i) => traceJob(i + 1, fields)),
  nodes,
  dropped: { noSize: 0, noRunTime: 0, tooLarge: 0 },
});

/** One line of Standard Workload Format with the fields that are used. */
export const swfLine = (id: number, { submit, run, nodes, request, user }: JobFields): string =>
  [id, submit, -1, run, nodes, -1, -1, nodes, request ?? run, -1, 1, user ?? 1, -1, -1, -1, -1, -1, -1].join(" ");

/** Numbers in [0, 1) from a seed, the same everywhere (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** A busy machine: arrivals about as fast as the work can be done. */
export function seededJobs(seed: number, count: number, nodes: number): JobFields[] {
  const random = randomFrom(seed);
  const whole = (least: number, most: number): number => least + Math.floor(random() * (most - least + 1));
  let submit = 0;
  return Array.from({ length: count }, () => {
    submit += whole(0, 120);
    const run = whole(1, 1200);
    const size = random() < 0.6 ? whole(1, Math.max(1, nodes >> 3)) : whole(1, nodes);
    return { submit, run, nodes: size, request: run + whole(0, 2) * whole(1, 900), user: `user${whole(1, 5)}` };
  });
}
