// The classic policies: traces computed by hand, and a naive twin that follows the definition word by word.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { easy, easySjbf, fcfs, type Policy, type Trace } from "../src/index.ts";
import { withPerfectEstimates } from "../src/trace/trace.ts";
import { type JobFields, jobsOf, seededJobs, type TestJob, traceOfJobs } from "./make.ts";

/** "start-end" per job, with * where it was backfilled. */
const reported = (policy: Policy, nodes: number, jobs: readonly JobFields[]): string[] => {
  const { start, end, backfilled } = policy(traceOfJobs(nodes, jobs), () => {});
  return Array.from(start, (from, row) => `${from}-${end[row]}${backfilled[row] === 1 ? "*" : ""}`);
};

describe("by hand", () => {
  // Two nodes work for 100 s; the second job wants all four; the third fits beside the first.
  const blocked: JobFields[] = [
    { submit: 0, run: 100, nodes: 2 },
    { submit: 1, run: 50, request: 60, nodes: 4 },
    { submit: 2, run: 90, request: 98, nodes: 2 },
    { submit: 3, run: 10, nodes: 1 },
  ];

  it("fcfs prevents overtaking", () => {
    expect(reported(fcfs, 4, blocked)).toEqual(["0-100", "100-150", "150-240", "150-160"]);
  });

  it("easy starts what ends by the shadow time, to the second", () => {
    // The fourth fits at 92, but would end at 102, after the second's shadow time of 100.
    expect(reported(easy, 4, blocked)).toEqual(["0-100", "100-150", "2-92*", "150-160"]);
  });

  it("easy does not start a job that ends a second after the shadow time", () => {
    const late = blocked.map((job, i) => (i === 2 ? { ...job, request: 99 } : job));
    expect(reported(easy, 4, late)).toEqual(["0-100", "100-150", "150-240", "3-13*"]);
  });

  it("easy starts a long job on the extra nodes, which it uses up", () => {
    const jobs: JobFields[] = [
      { submit: 0, run: 100, nodes: 3 },
      { submit: 1, run: 10, nodes: 4 },
      { submit: 2, run: 1000, nodes: 1 },
      { submit: 2, run: 1000, nodes: 1 },
    ];
    // On five nodes the head leaves one of them to spare, for one of the two.
    expect(reported(easy, 5, jobs)).toEqual(["0-100", "100-110", "2-1002*", "110-1110"]);
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
    expect(reported(easy, 6, jobs)).toEqual(["0-100", "0-100", "100-110", "2-502*", "2-502*", "100-600"]);
  });

  it("ends come before submissions at the same instant", () => {
    const jobs: JobFields[] = [
      { submit: 0, run: 10, nodes: 4 },
      { submit: 10, run: 5, nodes: 4 },
    ];
    expect(reported(fcfs, 4, jobs)).toEqual(["0-10", "10-15"]);
    expect(reported(easy, 4, jobs)).toEqual(["0-10", "10-15"]);
  });

  it("the plan uses requested times, not run times", () => {
    const jobs: JobFields[] = [
      { submit: 0, run: 10, request: 100, nodes: 3 },
      { submit: 1, run: 10, nodes: 4 },
      { submit: 2, run: 50, nodes: 1 },
    ];
    // The first ends long before its request: the third, started at 2, holds the second up until 52.
    expect(reported(easy, 4, jobs)).toEqual(["0-10", "52-62", "2-52*"]);
  });

  it("easy-sjbf orders the rest by requested time, then by queue order", () => {
    const jobs: JobFields[] = [
      { submit: 0, run: 100, nodes: 3 },
      { submit: 1, run: 10, nodes: 4 },
      { submit: 2, run: 90, nodes: 1 },
      { submit: 2, run: 80, nodes: 1 },
      { submit: 2, run: 80, nodes: 1 },
    ];
    expect(reported(easySjbf, 4, jobs)).toEqual(["0-100", "100-110", "110-200", "2-82*", "110-190"]);
    expect(reported(easy, 4, jobs)).toEqual(["0-100", "100-110", "2-92*", "110-190", "110-190"]);
  });

  it("plans by run times when estimates are perfect", () => {
    const trace = traceOfJobs(4, [
      { submit: 0, run: 10, request: 100, nodes: 3 },
      { submit: 1, run: 10, nodes: 4 },
      { submit: 2, run: 50, nodes: 1 },
    ]);
    expect([...easy(withPerfectEstimates(trace), () => {}).start]).toEqual([0, 10, 20]);
  });

  it("an empty trace has no starts", () => {
    expect(reported(easy, 4, [])).toEqual([]);
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
  const policies = [
    { name: "fcfs", policy: fcfs, order: "none" },
    { name: "easy", policy: easy, order: "queue" },
    { name: "easy-sjbf", policy: easySjbf, order: "request" },
  ] as const;

  it.each(policies)("$name starts every job at the defined time", ({ policy, order }) => {
    let waited = 0;
    fc.assert(
      fc.property(jobs, fc.boolean(), (drawn, perfect) => {
        const sorted = drawn.map(({ over, ...job }) => ({ ...job, request: job.run + over }));
        const given = traceOfJobs(
          6,
          sorted.sort((a, b) => a.submit - b.submit),
        );
        const trace = perfect ? withPerfectEstimates(given) : given;
        const starts = [...policy(trace, () => {}).start];
        expect(starts).toEqual(naiveStarts(trace, order));
        waited += starts.filter((start, row) => start > (trace.submit[row] ?? 0)).length;
      }),
      { numRuns: 300 },
    );
    expect(waited).toBeGreaterThan(1000);
  });

  // Long queues, where the lists of the engine grow, shift and are walked in part.
  it.each(policies)("$name matches the twin with a long queue", ({ policy, order }) => {
    const crowded = seededJobs(7, 250, 16).map((job) => ({ ...job, submit: Math.floor(job.submit / 8) }));
    const trace = traceOfJobs(16, crowded);
    expect([...policy(trace, () => {}).start]).toEqual(naiveStarts(trace, order));
  });
});

type Order = "none" | "queue" | "request";

/** Instant by instant, computed from the definition. */
function naiveStarts(trace: Trace, order: Order): number[] {
  const jobs = jobsOf(trace);
  const starts = new Map<TestJob, number>();
  const startOf = (job: TestJob): number => starts.get(job) ?? Number.POSITIVE_INFINITY;
  let now = Number.NEGATIVE_INFINITY;
  while (starts.size < jobs.length) {
    const last = now;
    now = Math.min(
      ...jobs.map((job) => job.submit).filter((at) => at > last),
      ...jobs.map((job) => startOf(job) + job.run).filter((at) => at > last),
    );
    const running = (): TestJob[] => jobs.filter((job) => starts.has(job) && startOf(job) + job.run > now);
    const free = (): number => trace.nodes - running().reduce(sumNodes, 0);
    const queue = jobs.filter((job) => job.submit <= now && !starts.has(job));
    while (queue[0] !== undefined && queue[0].nodes <= free()) starts.set(queue.shift() as TestJob, now);
    const head = queue.shift();
    if (head === undefined || order === "none") continue;
    const freeAt = (at: number): number =>
      trace.nodes -
      running()
        .filter((job) => startOf(job) + job.request > at)
        .reduce(sumNodes, 0);
    const releases = running().map((job) => startOf(job) + job.request);
    const shadow = releases.sort((a, b) => a - b).find((at) => freeAt(at) >= head.nodes) ?? Number.NaN;
    let extra = freeAt(shadow) - head.nodes;
    if (order === "request") queue.sort((a, b) => a.request - b.request || Number(a.id) - Number(b.id));
    for (const job of queue) {
      if (job.nodes > free()) continue;
      if (now + job.request <= shadow) starts.set(job, now);
      else if (job.nodes <= extra) {
        extra -= job.nodes;
        starts.set(job, now);
      }
    }
  }
  return jobs.map((job) => startOf(job));
}

const sumNodes = (sum: number, job: TestJob): number => sum + job.nodes;
