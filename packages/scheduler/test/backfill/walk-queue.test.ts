// The walk over the queue: which jobs are considered, what a wait for quota blocks, and trials that end at one allocation.

import { instant } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CycleInput, cycle } from "../../src/index.ts";
import { someInput } from "../arbitrary.ts";
import { busy, input, job, MINUTE, NOW, node, outcomeOf, promise, release, tenant } from "../make.ts";

const half: Partial<CycleInput> = {
  isFifo: true,
  nodes: [node("a"), node("b"), busy("c"), busy("d")],
  releases: [release(60, "c", "d")],
};

describe("the walk over the queue", () => {
  const cases: { name: string; given: Partial<CycleInput>; placed: string[]; held: string[] }[] = [
    {
      name: "passes an allocation without quota, which gets no reservation",
      given: {
        ...half,
        tenants: [tenant("physics", { maxNodes: 1 }), tenant("biology")],
        pending: [job(1, { nodes: 4, waited: 9 }), job(2, { tenant: "biology", minutes: 600 })],
      },
      placed: ["2: a"],
      held: [],
    },
    {
      name: "starts a later one at depth 0 only when all ahead have started",
      given: {
        ...half,
        backfillDepth: 0,
        pending: [job(1, { nodes: 2, waited: 9 }), job(2, { nodes: 2, waited: 8 }), job(3, { minutes: 1 })],
      },
      placed: ["1: a b"],
      held: [],
    },
    {
      name: "reserves in queue order up to the depth",
      given: {
        ...half,
        backfillDepth: 2,
        pending: [1, 2, 3].map((id) => job(id, { nodes: 4, minutes: 9.5, waited: 9 - id })),
      },
      placed: [],
      held: ["1@60: a b c d", "2@70: a b c d"],
    },
    {
      name: "backfills a job that ends before the second reservation too",
      given: {
        ...half,
        backfillDepth: 2,
        pending: [
          job(1, { nodes: 2, minutes: 30, waited: 9, constraints: { gpuCount: 0 } }),
          job(2, { nodes: 4, minutes: 9.5, waited: 8 }),
          job(3, { nodes: 2, minutes: 29, waited: 7 }),
        ],
      },
      placed: ["1: a b"],
      held: ["3@30.5: a b", "2@60: a b c d"],
    },
    {
      name: "keeps a reservation that cannot improve while later work starts around it",
      given: {
        ...half,
        previousReservations: [promise(1, 60, "b", "c", "d")],
        pending: [job(1, { nodes: 3, waited: 9 }), job(2, { minutes: 600 })],
      },
      placed: ["2: a"],
      held: ["1@60: b c d"],
    },
    {
      name: "starts the owner of a reservation early when nodes are free early",
      given: {
        ...half,
        nodes: ["a", "b", "c", "d"].map((id) => node(id)),
        releases: [],
        previousReservations: [promise(1, 60, "b", "c", "d")],
        pending: [job(1, { nodes: 3, waited: 9 })],
      },
      placed: ["1: a b c"],
      held: [],
    },
  ];
  it.each(cases)("$name", ({ given, placed, held }) => {
    expect(outcomeOf(given)).toEqual({ placed, held });
  });

  it("marks as backfilled exactly the starts with a reservation ahead of them", () => {
    const pending = [job(1, { waited: 9, minutes: 5 }), job(2, { nodes: 4, waited: 8 }), job(3, { minutes: 5 })];
    const { placements } = cycle(input({ ...half, pending }));
    expect(placements.map(({ allocation, backfilled }) => [allocation, backfilled])).toEqual([
      ["1", false],
      ["3", true],
    ]);
  });

  it("considers every job while nodes are free, and stops at the first that waits at depth 0", () => {
    const pending = [
      job(1, { nodes: 4, waited: 9 }),
      ...Array.from({ length: 5 }, (_, i) => job(i + 2, { minutes: 600 })),
    ];
    expect(cycle(input({ ...half, nodes: half.nodes ?? [], pending, backfillDepth: 0 })).considered).toBe(1);
    const spare = [...(half.nodes ?? []), node("e")];
    expect(cycle(input({ ...half, nodes: spare, pending })).considered).toBeGreaterThan(1);
  });
});

describe("a trial that ends at one allocation", () => {
  it("starts it only where the whole cycle starts it, on the same nodes", () => {
    let started = 0;
    fc.assert(
      fc.property(someInput, (some) => {
        const given = { ...some, isFifo: true, report: "none" as const };
        const whole = new Map(cycle(given).placements.map(({ allocation, nodes }) => [allocation, nodes]));
        for (const { id } of given.pending) {
          const own = cycle({ ...given, stopAfter: id }).placements.find(({ allocation }) => allocation === id);
          if (own === undefined) continue;
          expect(whole.get(id)).toEqual(own.nodes);
          started += 1;
        }
      }),
      { numRuns: 120 },
    );
    expect(started).toBeGreaterThan(80);
  });
});

describe("a start", () => {
  it("of a job with requested walltime never delays the reservations ahead of it in the queue", () => {
    let compared = 0;
    fc.assert(
      fc.property(someInput, (some) => {
        const base = { ...some, isFifo: true, backfillDepth: 4 };
        const first = cycle(base);
        const previous = first.reservations;
        // The starts of the first cycle run; the next cycle carries the reservations over.
        const ends = new Map(
          first.placements.flatMap(({ allocation, nodes }) => {
            const walltime = base.pending.find(({ id }) => id === allocation)?.walltime ?? null;
            return nodes.map((id) => [id as string, { allocation, walltime }] as const);
          }),
        );
        const started = new Set(first.placements.map(({ allocation }) => allocation));
        const next: CycleInput = {
          ...base,
          now: instant(NOW + MINUTE),
          nodes: base.nodes.map((each) =>
            ends.has(each.id) ? { ...each, free: false, notFreeBecause: "busy" } : each,
          ),
          releases: [
            ...base.releases,
            ...first.placements.map(({ allocation, nodes }) => {
              const { walltime = null } = ends.get(nodes[0] as string) ?? {};
              return { allocation, nodes, endsAt: walltime === null ? null : instant(NOW + walltime + 30_000) };
            }),
          ],
          pending: base.pending.filter(({ id }) => !started.has(id)).map((each) => ({ ...each, preemptionClass: 5 })),
          tenants: [tenant("physics"), tenant("biology")],
          previousReservations: previous,
        };
        const second = cycle(next);
        // Overdue work is expected half a minute from now, in each cycle again.
        const isLate = base.releases.some(({ endsAt }) => endsAt !== null && endsAt <= NOW + MINUTE);
        if (isLate) return;
        const startedLater = new Set(second.placements.map(({ allocation }) => allocation));
        for (const { allocation, startsAt } of previous) {
          if (startedLater.has(allocation)) continue;
          const after = second.reservations.find((one) => one.allocation === allocation);
          expect(after?.startsAt ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(Math.max(startsAt, next.now));
          compared += 1;
        }
      }),
      { numRuns: 250 },
    );
    expect(compared).toBeGreaterThan(100);
  });
});
