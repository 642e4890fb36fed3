// The classic policies: traces computed by hand, and a naive twin that follows the definition word by word.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { easy, fcfs, type Policy, type Trace, type TraceJob } from "../src/index.ts";
import { type JobFields, traceOfJobs } from "./make.ts";

/** "start-end" per job, with * where it was backfilled. */
const told = (policy: Policy, nodes: number, jobs: readonly JobFields[]): string[] =>
  policy(traceOfJobs(nodes, jobs), () => {}).map(
    ({ start, end, backfilled }) => `${start}-${end}${backfilled ? "*" : ""}`,
  );

describe("by hand", () => {
  // Two nodes work for 100 s; the second job wants all four; the third fits beside the first.
  const blocked: JobFields[] = [
    { submit: 0, run: 100, nodes: 2 },
    { submit: 1, run: 50, request: 60, nodes: 4 },
    { submit: 2, run: 90, request: 98, nodes: 2 },
    { submit: 3, run: 10, nodes: 1 },
  ];

  it("fcfs lets nobody overtake", () => {
    expect(told(fcfs, 4, blocked)).toEqual(["0-100", "100-150", "150-240", "150-160"]);
  });

  it("easy starts what ends by the shadow time, to the second", () => {
    // The fourth fits at 92, but would end at 102, after the second's shadow time of 100.
    expect(told(easy, 4, blocked)).toEqual(["0-100", "100-150", "2-92*", "150-160"]);
  });

  it("easy refuses what ends a second after the shadow time", () => {
    const late = blocked.map((job, i) => (i === 2 ? { ...job, request: 99 } : job));
    expect(told(easy, 4, late)).toEqual(["0-100", "100-150", "150-240", "3-13*"]);
  });

  it("easy starts a long job on the extra nodes, which it uses up", () => {
    const jobs: JobFields[] = [
      { submit: 0, run: 100, nodes: 3 },
      { submit: 1, run: 10, nodes: 4 },
      { submit: 2, run: 1000, nodes: 1 },
      { submit: 2, run: 1000, nodes: 1 },
    ];
    // On five nodes the head leaves one of them to spare, for one of the two.
    expect(told(easy, 5, jobs)).toEqual(["0-100", "100-110", "2-1002*", "110-1110"]);
  });

  it("counts all releases of the shadow's instant as extra", () => {
    const jobs: JobFields[] = [
      { submit: 0, run: 100, nodes: 2 },
      { submit: 0, run: 100, nodes: 2 },
      { submit: 1, run: 10, nodes: 3 },
      { submit: 2, run: 500, nodes: 1 },
      { submit: 2, run: 500, nodes: 1 },
      { submit: 2, run: 500, nodes: 1 },
    ];
    // Six nodes: at 100 all are free, three for the head, three to spare, but only two are free now.
    expect(told(easy, 6, jobs)).toEqual(["0-100", "0-100", "100-110", "2-502*", "2-502*", "100-600"]);
  });

  it("takes ends before submissions at the same instant", () => {
    const jobs: JobFields[] = [
      { submit: 0, run: 10, nodes: 4 },
      { submit: 10, run: 5, nodes: 4 },
    ];
    expect(told(fcfs, 4, jobs)).toEqual(["0-10", "10-15"]);
    expect(told(easy, 4, jobs)).toEqual(["0-10", "10-15"]);
  });

  it("plans by requests, not by what it cannot know", () => {
    const jobs: JobFields[] = [
      { submit: 0, run: 10, request: 100, nodes: 3 },
      { submit: 1, run: 10, nodes: 4 },
      { submit: 2, run: 50, nodes: 1 },
    ];
    // The first ends long before its request: the third, started at 2, holds the second up until 52.
    expect(told(easy, 4, jobs)).toEqual(["0-10", "52-62", "2-52*"]);
  });

  it("has nothing to do for an empty trace", () => {
    expect(told(easy, 4, [])).toEqual([]);
  });
});

describe("against a naive twin", () => {
  const jobs = fc.array(
    fc.record({
      submit: fc.integer({ min: 0, max: 60 }),
      run: fc.integer({ min: 1, max: 30 }),
      over: fc.integer({ min: 0, max: 30 }),
      nodes: fc.integer({ min: 1, max: 6 }),
    }),
    { minLength: 1, maxLength: 25, size: "max" },
  );

  it.each([
    { name: "fcfs", policy: fcfs, backfills: false },
    { name: "easy", policy: easy, backfills: true },
  ])("$name starts every job when the definition says", ({ policy, backfills }) => {
    let waited = 0;
    fc.assert(
      fc.property(jobs, (drawn) => {
        const sorted = drawn.map(({ over, ...job }) => ({ ...job, request: job.run + over }));
        const trace = traceOfJobs(
          6,
          sorted.sort((a, b) => a.submit - b.submit),
        );
        const starts = policy(trace, () => {}).map((outcome) => outcome.start);
        expect(starts).toEqual(naiveStarts(trace, backfills));
        waited += starts.filter((start, i) => start > (trace.jobs[i]?.submit ?? 0)).length;
      }),
      { numRuns: 400 },
    );
    expect(waited).toBeGreaterThan(1000);
  });
});

/** Second by second, everything computed anew. */
function naiveStarts({ jobs, nodes }: Trace, backfills: boolean): number[] {
  const starts = new Map<TraceJob, number>();
  for (let now = 0; starts.size < jobs.length; now += 1) {
    const running = (): TraceJob[] =>
      jobs.filter((job) => (starts.get(job) ?? Infinity) + job.run > now && starts.has(job));
    const free = (): number => nodes - running().reduce((sum, job) => sum + job.nodes, 0);
    const queue = jobs.filter((job) => job.submit <= now && !starts.has(job));
    while (queue[0] !== undefined && queue[0].nodes <= free()) starts.set(queue.shift() as TraceJob, now);
    const head = queue[0];
    if (head === undefined || !backfills) continue;
    const freeAt = (at: number): number => {
      const gone = running().filter((job) => (starts.get(job) ?? 0) + job.request > at);
      return nodes - gone.reduce((sum, job) => sum + job.nodes, 0);
    };
    let shadow = now;
    while (freeAt(shadow) < head.nodes) shadow += 1;
    let extra = freeAt(shadow) - head.nodes;
    for (const job of queue.slice(1)) {
      if (job.nodes > free()) continue;
      if (now + job.request <= shadow) starts.set(job, now);
      else if (job.nodes <= extra) {
        extra -= job.nodes;
        starts.set(job, now);
      }
    }
  }
  return jobs.map((job) => starts.get(job) ?? Number.NaN);
}
