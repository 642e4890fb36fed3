// Properties over time, with cycles at every submission and completion until the queue is empty: reserved starts are
// kept (E3, E10), and every feasible allocation starts (E9).

import { instant, WEIGHT_PROFILES } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { type CycleInput, cycle, type PendingInput, type Reservation } from "../src/index.ts";
import { someJobs, someNodes, someTenants } from "./arbitrary.ts";
import { input, job, MINUTE, NOW, node } from "./make.ts";
import { simulate } from "./simulate.ts";

/** Bounded, and submitted within a quarter of an hour, so that they are in each other's way. */
const crowded = (jobs: readonly PendingInput[]): PendingInput[] =>
  jobs.map((job) => ({
    ...job,
    submittedAt: instant(NOW - ((NOW - job.submittedAt) % (15 * MINUTE))),
    walltime: job.walltime ?? ((30 * MINUTE) as NonNullable<PendingInput["walltime"]>),
  }));

const scenario = fc.record({
  nodes: someNodes.map((nodes) => nodes.map((node) => ({ ...node, free: node.usable, notFreeBecause: "" }))),
  jobs: someJobs(14).map(crowded),
  tenants: someTenants,
  runMilli: fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 14, maxLength: 14 }),
  isFifo: fc.boolean(),
  depth: fc.integer({ min: 0, max: 3 }),
});

/** Would it start on the empty machine, were it alone? */
const feasible = (base: CycleInput, job: PendingInput): boolean =>
  cycle({ ...base, pending: [job], now: instant(job.submittedAt) }).placements.length === 1;

/** Pairs of reservations with a common node at a common time. */
const overlapping = (reservations: readonly Reservation[]): string[] =>
  reservations.flatMap((a, i) =>
    reservations
      .slice(i + 1)
      .filter((b) => endOf(a) > b.startsAt && endOf(b) > a.startsAt && a.nodes.some((node) => b.nodes.includes(node)))
      .map((b) => `${a.allocation} and ${b.allocation}`),
  );
const endOf = ({ endsAt }: Reservation): number => endsAt ?? Number.POSITIVE_INFINITY;

const profile = fc.constantFrom(...Object.values(WEIGHT_PROFILES));

// Many runs: a machine that does much else takes its time.
vi.setConfig({ testTimeout: 600_000 });

describe("a sequence of cycles", () => {
  it("starts the first reserved allocation no later than reserved, early ends or not (E3)", () => {
    let promises = 0;
    let backfills = 0;
    fc.assert(
      fc.property(scenario, ({ nodes, jobs, runMilli }) => {
        // In order of submission only backfill overtakes the first.
        const base = input({ nodes, isFifo: true, backfillDepth: 1 });
        const run = simulate({ base, jobs, runMilli });
        for (const { allocation, startsAt } of run.promises) {
          expect(run.startedAt.get(allocation) ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(startsAt);
        }
        promises += run.promises.length;
        backfills += run.backfills;
      }),
      { numRuns: 400 },
    );
    expect(promises).toBeGreaterThan(400);
    expect(backfills).toBeGreaterThan(60);
  });

  it("keeps every reservation, whatever its position and number, the weights and the quotas (E3, E10)", () => {
    let promises = 0;
    let backfills = 0;
    fc.assert(
      fc.property(scenario, profile, ({ nodes, jobs, tenants, runMilli, depth, isFifo }, weights) => {
        // One class for all: a higher class could displace a reservation.
        const equal = jobs.map((job) => ({ ...job, preemptionClass: 5 as number }));
        const base = input({ nodes, tenants, isFifo, backfillDepth: depth, weights });
        const run = simulate({ base, jobs: equal, runMilli, remember: true });
        for (const each of run.reservations) expect(overlapping(each)).toEqual([]);
        for (const { allocation, startsAt } of run.reservations.flat()) {
          expect(run.startedAt.get(allocation) ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(startsAt);
          promises += 1;
        }
        backfills += run.backfills;
      }),
      { numRuns: 800 },
    );
    expect(promises).toBeGreaterThan(600);
    expect(backfills).toBeGreaterThan(60);
  });

  it("starts a wide job when reserved, however many narrow jobs arrive later (E10)", () => {
    const nodes = ["a", "b", "c", "d", "e", "f"].map((id, i) => node(id, { in: `g${i % 2}` }));
    const running = nodes.map((_, i) => job(i + 1, { minutes: 30 + i, waited: 10 }));
    const wide = job(7, { nodes: 6, minutes: 30, waited: 9 });
    const narrow = Array.from({ length: 12 }, (_, i) => job(i + 8, { minutes: 40, waited: 8 - i / 2 }));
    const jobs = [...running, wide, ...narrow];
    for (const weights of Object.values(WEIGHT_PROFILES)) {
      const base = input({ nodes, backfillDepth: 10, weights });
      const { reservations, startedAt } = simulate({ base, jobs, runMilli: jobs.map(() => 1000), remember: true });
      const first = reservations.flat().find(({ allocation }) => allocation === wide.id);
      expect(first?.startsAt).toBeGreaterThan(NOW);
      expect(startedAt.get(wide.id)).toBeLessThanOrEqual(Number(first?.startsAt));
    }
  });

  it("leaves a carried-over reservation that cannot start earlier on its nodes", () => {
    let stayed = 0;
    fc.assert(
      fc.property(scenario, ({ nodes, jobs, runMilli }) => {
        const equal = jobs.map((job) => ({ ...job, preemptionClass: 5 as number }));
        const base = input({ nodes, isFifo: true, backfillDepth: 2 });
        const { reservations } = simulate({ base, jobs: equal, runMilli, remember: true });
        for (const [at, each] of reservations.entries()) {
          for (const before of reservations[at - 1] ?? []) {
            const after = each.find(({ allocation }) => allocation === before.allocation);
            if (after === undefined) continue;
            expect(after.startsAt).toBeLessThanOrEqual(before.startsAt);
            if (after.startsAt === before.startsAt && after.nodes.join() === before.nodes.join()) stayed += 1;
          }
        }
      }),
      { numRuns: 200 },
    );
    expect(stayed).toBeGreaterThan(100);
  });

  it("starts every feasible allocation once submissions stop (E9)", () => {
    let started = 0;
    let cycles = 0;
    fc.assert(
      fc.property(scenario, ({ nodes, jobs, tenants, runMilli, isFifo, depth }) => {
        const base = input({ nodes, tenants, isFifo, backfillDepth: depth });
        const run = simulate({ base, jobs, runMilli, remember: depth % 2 === 1 });
        for (const job of jobs) expect([job.id, run.startedAt.has(job.id)]).toEqual([job.id, feasible(base, job)]);
        started += run.startedAt.size;
        cycles += run.cycles;
      }),
      { numRuns: 400 },
    );
    expect(started).toBeGreaterThan(800);
    expect(cycles).toBeGreaterThan(1000);
  });
});
