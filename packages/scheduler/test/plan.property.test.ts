// Invariants of every single plan, for any input (E3 within a plan, E5, E6, S1, S2).

import { shortfalls } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { WALLTIME_GRACE } from "../src/base/bounds.ts";
import { type CycleInput, createCycleCache, cycle, type PendingInput } from "../src/index.ts";
import { someInput } from "./arbitrary.ts";
import { tenant } from "./make.ts";

const byId = (input: CycleInput) => new Map(input.pending.map((job) => [job.id, job]));
const occupies = (job: PendingInput | undefined): number =>
  job === undefined || job.walltime === null ? Number.POSITIVE_INFINITY : job.walltime + WALLTIME_GRACE;

// Many runs: a machine that does much else takes its time.
vi.setConfig({ testTimeout: 600_000 });

describe("every plan", () => {
  it("uses free nodes, each once, that satisfy every hard constraint, in the count asked for", () => {
    let placed = 0;
    fc.assert(
      fc.property(someInput, (input) => {
        const jobs = byId(input);
        const nodes = new Map(input.nodes.map((node) => [node.id, node]));
        const used = new Set<string>();
        for (const placement of cycle(input).placements) {
          placed += 1;
          const job = jobs.get(placement.allocation);
          if (job === undefined) throw new Error("unknown allocation");
          expect(placement.nodes.length).toBeGreaterThanOrEqual(job.minNodes);
          expect(placement.nodes.length).toBeLessThanOrEqual(job.maxNodes);
          for (const required of job.constraints.requiredNodes) expect(placement.nodes).toContain(required);
          for (const id of placement.nodes) {
            const node = nodes.get(id);
            if (node === undefined) throw new Error("unknown node");
            expect(node.free).toBe(true);
            expect(used.has(id)).toBe(false);
            used.add(id);
            expect(shortfalls(job.constraints, node.id, node)).toEqual([]);
            expect(job.constraints.excludedNodes).not.toContain(id);
          }
        }
      }),
      { numRuns: 1000 },
    );
    expect(placed).toBeGreaterThan(600);
  });

  it("keeps every tenant within its quota", () => {
    let limited = 0;
    fc.assert(
      fc.property(someInput, (input) => {
        const jobs = byId(input);
        const { placements, reasons } = cycle(input);
        for (const tenant of input.tenants) {
          const own = placements.filter((placement) => jobs.get(placement.allocation)?.tenant === tenant.id);
          const nodes = own.reduce((count, placement) => count + placement.nodes.length, 0);
          if (tenant.maxNodes !== null) expect(nodes).toBeLessThanOrEqual(tenant.maxNodes);
          if (tenant.maxConcurrentAllocations !== null) {
            expect(own.length).toBeLessThanOrEqual(tenant.maxConcurrentAllocations);
          }
        }
        if ([...reasons.values()].some((all) => all.some(({ code }) => code.startsWith("quota")))) limited += 1;
      }),
      { numRuns: 600 },
    );
    expect(limited).toBeGreaterThan(50);
  });

  it("is the same whatever the order of the input (E5)", () => {
    let placed = 0;
    const shuffled = someInput.chain((input) =>
      fc.record({
        input: fc.constant(input),
        other: fc
          .tuple(
            fc.shuffledSubarray([...input.nodes], { minLength: input.nodes.length }),
            fc.shuffledSubarray([...input.pending], { minLength: input.pending.length }),
            fc.shuffledSubarray([...input.releases], { minLength: input.releases.length }),
            fc.shuffledSubarray([...input.tenants], { minLength: input.tenants.length }),
          )
          .map(([nodes, pending, releases, tenants]) => ({ ...input, nodes, pending, releases, tenants })),
      }),
    );
    fc.assert(
      fc.property(shuffled, ({ input, other }) => {
        const result = cycle(input);
        expect(cycle(other)).toEqual(result);
        placed += result.placements.length;
      }),
      { numRuns: 500 },
    );
    expect(placed).toBeGreaterThan(300);
  });

  it("is the same with and without the cache of the previous cycle", () => {
    const pair = fc.tuple(someInput, someInput);
    fc.assert(
      fc.property(pair, ([first, second]) => {
        const cache = createCycleCache();
        for (const input of [first, first, second, { ...second, isFifo: !second.isFifo }, first]) {
          expect(cycle({ ...input, cache })).toEqual(cycle(input));
        }
      }),
      { numRuns: 100 },
    );
  });

  it("keeps reservations whole: no start, release or other reservation overlaps them on a node (E3)", () => {
    let kept = 0;
    fc.assert(
      fc.property(someInput, (input) => {
        const jobs = byId(input);
        const { placements, reservations } = cycle(input);
        expect(reservations.length).toBeLessThanOrEqual(input.backfillDepth);
        const ends = new Map<string, number>();
        for (const { nodes, endsAt } of input.releases) {
          // Overdue work is expected to end within half a minute.
          const end = endsAt === null ? Number.POSITIVE_INFINITY : endsAt > input.now ? endsAt : input.now + 30_000;
          for (const id of nodes) ends.set(id, end);
        }
        for (const { allocation, nodes } of placements) {
          for (const id of nodes) ends.set(id, input.now + occupies(jobs.get(allocation)));
        }
        const intervals = new Map<string, [number, number][]>();
        for (const { allocation, startsAt, nodes } of reservations) {
          kept += 1;
          const job = jobs.get(allocation);
          expect(startsAt).toBeGreaterThan(input.now);
          expect(new Set(nodes).size).toBeGreaterThanOrEqual(job?.minNodes ?? 0);
          for (const id of nodes) {
            expect(ends.get(id) ?? input.now).toBeLessThanOrEqual(startsAt);
            const end = startsAt + occupies(job);
            for (const [from, to] of intervals.get(id) ?? []) expect(end <= from || to <= startsAt).toBe(true);
            intervals.set(id, [...(intervals.get(id) ?? []), [startsAt, end]]);
          }
        }
      }),
      { numRuns: 1000 },
    );
    expect(kept).toBeGreaterThan(300);
  });

  it("reserves no later than it would without the jobs behind (E3)", () => {
    let compared = 0;
    fc.assert(
      fc.property(someInput, (given) => {
        const input = { ...given, isFifo: true, backfillDepth: 1 };
        const full = cycle(input);
        const head = full.reservations[0];
        if (head === undefined) return;
        const backfilled = new Set(full.placements.filter((each) => each.backfilled).map((each) => each.allocation));
        // Still there, since what waits decides which hardware is left to whom, but unable to start.
        const barred = "barred" as PendingInput["tenant"];
        const alone = cycle({
          ...input,
          pending: input.pending.map((job) => (backfilled.has(job.id) ? { ...job, tenant: barred } : job)),
          tenants: [...input.tenants, tenant(barred, { maxConcurrentAllocations: 0 })],
        });
        if (backfilled.size > 0) compared += 1;
        expect(alone.reservations[0]).toMatchObject({ allocation: head.allocation, startsAt: head.startsAt });
      }),
      { numRuns: 1500 },
    );
    expect(compared).toBeGreaterThan(50);
  });

  it("has a reason for every job that does not start", () => {
    fc.assert(
      fc.property(someInput, (input) => {
        const { placements, reasons } = cycle(input);
        const started = new Set(placements.map((placement) => placement.allocation));
        for (const { id } of input.pending) expect((reasons.get(id) ?? []).length > 0).toBe(!started.has(id));
      }),
      { numRuns: 500 },
    );
  });
});
