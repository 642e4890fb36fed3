// Drawing from the queue: the order of the heap equals a full sort, skipped jobs come back in their place, and a cache of
// jobs changes nothing.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Job } from "../../src/fit/job.ts";
import type { CycleInput } from "../../src/index.ts";
import { jobsFor } from "../../src/queue/job-cache.ts";
import { orderQueue, type Queue } from "../../src/queue/queue.ts";
import { scoreBasis, totalMilli } from "../../src/score/score.ts";
import { someInput } from "../arbitrary.ts";
import { draftOf, jobOn } from "../drafts.ts";
import { input, job, node } from "../make.ts";

const queueOf = (given: CycleInput): Queue => orderQueue(given, scoreBasis(given));

function drain(queue: Queue, most = Number.POSITIVE_INFINITY): string[] {
  const ids: string[] = [];
  while (ids.length < most) {
    const next = queue.next();
    if (next === null) break;
    ids.push(next.input.id);
  }
  return ids;
}

/** By score, submission and number, from the definitions. */
function sortedIds(given: CycleInput): string[] {
  const basis = scoreBasis(given);
  const draft = draftOf(given);
  const scored = given.pending.map((pending) => ({
    pending,
    score: given.isFifo ? 0 : totalMilli(basis, jobOn(draft, pending)),
  }));
  scored.sort(
    (a, b) =>
      b.score - a.score || a.pending.submittedAt - b.pending.submittedAt || Number(a.pending.id) - Number(b.pending.id),
  );
  return scored.map(({ pending }) => pending.id);
}

describe("a queue", () => {
  it("draws and lists its jobs in the order of a full sort", () => {
    fc.assert(
      fc.property(someInput, (given) => {
        const expected = sortedIds(given);
        expect(drain(queueOf(given))).toEqual(expected);
        expect([...queueOf(given).select(() => true)].map(({ input: { id } }) => id)).toEqual(expected);
        const odd = (id: string): boolean => Number(id) % 2 === 1;
        expect([...queueOf(given).select(({ id }) => odd(id))].map(({ input: { id } }) => id)).toEqual(
          expected.filter(odd),
        );
      }),
      { numRuns: 150 },
    );
  });

  it("draws only kept jobs while others are skipped, and the skipped ones in their order after it resumes", () => {
    fc.assert(
      fc.property(someInput, fc.nat(5), fc.nat(5), (given, before, between) => {
        const expected = sortedIds(given);
        const queue = queueOf(given);
        const first = drain(queue, before);
        expect(first).toEqual(expected.slice(0, before));
        const keep = ({ input: { id } }: Job): boolean => Number(id) % 3 !== 0;
        queue.skipUnless(keep);
        const rest = expected.slice(first.length);
        const kept = rest.filter((id) => Number(id) % 3 !== 0);
        const second = drain(queue, between);
        expect(second).toEqual(kept.slice(0, between));
        queue.resume();
        const drawn = new Set([...first, ...second]);
        expect(drain(queue)).toEqual(expected.filter((id) => !drawn.has(id)));
        expect(queue.next()).toBeNull();
      }),
      { numRuns: 150 },
    );
  });

  it("reports the smallest and the shortest of the skipped jobs", () => {
    const pending = [job(1, { nodes: 3, minutes: 60 }), job(2, { nodes: 2, minutes: 90 }), job(3, { minutes: 5 })];
    const queue = queueOf(input({ nodes: [node("a")], pending }));
    const nothing = { nodesNeeded: Number.POSITIVE_INFINITY, occupancy: Number.POSITIVE_INFINITY };
    expect(queue.skipped).toEqual(nothing);
    queue.skipUnless(({ nodesNeeded }) => nodesNeeded === 1);
    expect(queue.skipped).toEqual({ nodesNeeded: 2, occupancy: 60.5 * 60_000 });
    queue.resume();
    expect(queue.skipped).toEqual(nothing);
  });

  it("reports the job drawn last, and compares jobs by their index in the input", () => {
    const pending = [job(1, { class: 1 }), job(2, { class: 9 })];
    const queue = queueOf(input({ nodes: [node("a")], pending }));
    expect(queue.lastDrawn).toBe(-1);
    queue.next();
    expect(queue.lastDrawn).toBe(1);
    expect(queue.compare(0, 1)).toBeGreaterThan(0);
  });

  it("in submission order ignores classes", () => {
    const pending = [job(1, { class: 1, waited: 5 }), job(2, { class: 9 })];
    const queue = queueOf(input({ isFifo: true, nodes: [node("a")], pending }));
    expect(queue.compare(0, 1)).toBeLessThan(0);
  });

  it("measures the time of scoring, once per ordering", () => {
    const measured: string[] = [];
    const timed: CycleInput["timed"] = (what, run) => {
      measured.push(what);
      return run();
    };
    const given = input({ nodes: [node("a")], pending: [job(1), job(2)], timed });
    const queue = queueOf(given);
    expect(measured).toEqual([]);
    drain(queue);
    expect(measured).toEqual(["cost_function"]);
  });
});

describe("a cache of jobs", () => {
  it("keeps jobs for the same matches and length, and drops them otherwise", () => {
    const cache = { builtFor: null as unknown, jobs: [] as unknown[] };
    const matches = new Map();
    const jobs = jobsFor(cache, matches, 2);
    expect(jobs).toHaveLength(2);
    const one = jobOn(draftOf({ nodes: [node("a")] }), job(1));
    jobs[0] = one;
    expect(jobsFor(cache, matches, 2)[0]).toBe(one);
    expect(jobsFor(cache, matches, 3)[0]).toBeUndefined();
    jobsFor(cache, matches, 3)[0] = one;
    expect(jobsFor(cache, new Map(), 3)[0]).toBeUndefined();
  });
});
