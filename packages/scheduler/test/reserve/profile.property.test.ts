// The release profile against a naive one: a sweep over every instant at which anything changes, with every node checked
// by hand. Budgets and other vClusters' reservations are included, which the search by count leaves to the sweep.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { startNow } from "../../src/backfill/start-now.ts";
import type { Job } from "../../src/fit/job.ts";
import type { CycleInput } from "../../src/index.ts";
import { expectedRelease } from "../../src/machine/availability.ts";
import { choose } from "../../src/place/choose.ts";
import { isFeasible } from "../../src/place/feasibility.ts";
import { type Supply, toNodeRequest } from "../../src/place/node-request.ts";
import { commitStart, type Draft } from "../../src/plan/draft.ts";
import { addForeignReservations } from "../../src/reserve/carry-over.ts";
import { sweepReleases } from "../../src/reserve/release-profile.ts";
import { addReservation, findReservation } from "../../src/reserve/reserve.ts";
import { someInput } from "../arbitrary.ts";
import { draftOf, jobFrom, jobOn } from "../drafts.ts";
import { busy, MINUTE, NOW, node, nodeIds, release } from "../make.ts";

/** The instants at which a node becomes available, an interval ends or running work returns its budget, after now. */
function instantsOf({ availableFrom, reservedIntervals, now }: Draft, releases: CycleInput["releases"]): number[] {
  const released = releases.map(({ endsAt }) => expectedRelease(endsAt, now));
  const all = [...availableFrom, ...reservedIntervals.all().map(({ endsAt }) => endsAt), ...released];
  return [...new Set(all)].filter((at) => at > now && Number.isFinite(at)).sort((a, b) => a - b);
}

/** Counts the open nodes by cell, one by one; `null` when a required node is not open. */
function naiveSupply(draft: Draft, job: Job, from: number): Supply | null {
  const { machine, availableFrom, reservedIntervals } = draft;
  const { match } = job;
  const counts = new Int32Array(machine.cells.count);
  let total = 0;
  for (const at of machine.nodes.keys()) {
    const cell = machine.cells.ofNode[at] as number;
    const isOpen =
      (availableFrom[at] as number) <= from &&
      reservedIntervals
        .all()
        .every(
          ({ startsAt, endsAt, nodes }) => !nodes.includes(at) || startsAt >= from + job.occupancy || endsAt <= from,
        );
    if (match.required?.includes(at) === true) {
      if (!isOpen) return null;
      continue;
    }
    if (!isOpen || cell < 0 || match.kinds[machine.kindOf[at] as number] !== 1 || match.excluded.has(at)) continue;
    counts[cell] = (counts[cell] as number) + 1;
    total += 1;
  }
  return { cells: match.cells, counts, total };
}

function naiveStart(draft: Draft, job: Job, releases: CycleInput["releases"]): number | null {
  const request = toNodeRequest(draft.machine, job, job.nodesNeeded, draft.tiers);
  for (const at of instantsOf(draft, releases)) {
    const supply = naiveSupply(draft, job, at);
    const affordable = draft.budgets?.most(job, job.nodesNeeded, at, at + job.occupancy) ?? job.nodesNeeded;
    if (supply !== null && affordable >= job.nodesNeeded && choose(draft.machine, supply, request) !== null) return at;
  }
  return null;
}

const someForeign = fc.array(
  fc.record({
    from: fc.integer({ min: -30, max: 120 }),
    minutes: fc.option(fc.integer({ min: 1, max: 90 })),
    nodes: fc.uniqueArray(fc.nat(8), { minLength: 1, maxLength: 3 }),
  }),
  { maxLength: 3 },
);

const foreignOf = (given: CycleInput, foreign: typeof someForeign extends fc.Arbitrary<infer T> ? T : never) =>
  foreign.map(({ from, minutes, nodes }) => ({
    startsAt: (NOW + from * MINUTE) as CycleInput["now"],
    endsAt: minutes === null ? null : ((NOW + (from + minutes) * MINUTE) as CycleInput["now"]),
    nodes: nodes.flatMap((at) => given.nodes[at]?.id ?? []),
  }));

describe("the release profile", () => {
  it("finds the start that a naive profile finds, around foreign reservations and within budgets", () => {
    let reserved = 0;
    fc.assert(
      fc.property(someInput, someForeign, fc.option(fc.nat(900)), (some, foreign, storage) => {
        const given: CycleInput = {
          ...some,
          pending: some.pending.map((each, i) => ({
            ...each,
            constraints: { ...each.constraints, ...(storage === null ? null : { storageMBps: 100 * (i % 4) }) },
          })),
          // The bandwidth of one allocation is returned before its node is.
          releases: some.releases.map((each, i) => ({
            ...each,
            ...(i === 0 ? { nodes: [], storageMBps: 150 } : { storageMBps: 50 * (i % 3) }),
          })),
          foreignReservations: foreignOf(some, foreign),
          ...(storage === null ? null : { signals: { storage: { limit: 200 + storage, used: 0 } } }),
        };
        const draft = draftOf(given);
        addForeignReservations(draft, given);
        for (const pending of given.pending) {
          const job = jobOn(draft, pending);
          if (!isFeasible(draft.machine, job)) continue;
          const nodes = startNow(draft, job, pending.maxNodes);
          if (nodes !== null) {
            commitStart(draft, job, nodes);
            continue;
          }
          const found = findReservation(draft, job);
          expect(found?.startsAt ?? null).toBe(naiveStart(draft, job, given.releases));
          if (found === null) continue;
          const open = naiveSupply(draft, job, found.startsAt);
          expect(open).not.toBeNull();
          for (const at of found.nodes) expect(draft.availableFrom[at]).toBeLessThanOrEqual(found.startsAt);
          addReservation(draft, found);
          reserved += 1;
        }
      }),
      { numRuns: 200 },
    );
    expect(reserved).toBeGreaterThan(100);
  });

  it("calls back in order of time, after now, and only with enough nodes", () => {
    fc.assert(
      fc.property(someInput, someForeign, (some, foreign) => {
        const given = { ...some, foreignReservations: foreignOf(some, foreign) };
        const draft = draftOf(given);
        addForeignReservations(draft, given);
        for (const pending of given.pending) {
          const job = jobOn(draft, pending);
          if (job.match.required === null) continue;
          let last: number = draft.now;
          sweepReleases(draft, job, (startsAt, { counts, total, cells }) => {
            expect(startsAt).toBeGreaterThan(last);
            last = startsAt;
            expect(total + (job.match.required?.length ?? 0)).toBeGreaterThanOrEqual(job.nodesNeeded);
            const naive = naiveSupply(draft, job, startsAt);
            expect([...cells].map((cell) => counts[cell])).toEqual([...cells].map((cell) => naive?.counts[cell]));
            expect(total).toBe(naive?.total);
            return false;
          });
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe("a sweep over releases", () => {
  const sweep = (given: Partial<CycleInput>, fields = {}, most = 99): string[] => {
    const draft = draftOf(given);
    addForeignReservations(draft, { ...draftInput, ...given });
    const seen: string[] = [];
    sweepReleases(draft, jobFrom(draft, 1, { minutes: 9.5, ...fields }), (startsAt, { total }) => {
      seen.push(`${(startsAt - NOW) / MINUTE}: ${total}`);
      return seen.length === most;
    });
    return seen;
  };
  const draftInput = { foreignReservations: [] } as unknown as CycleInput;
  const foreign = (from: number, to: number | null, ...nodes: string[]) => ({
    startsAt: (NOW + from * MINUTE) as CycleInput["now"],
    endsAt: to === null ? null : ((NOW + to * MINUTE) as CycleInput["now"]),
    nodes: nodeIds(...nodes),
  });
  const three = { nodes: [node("a"), busy("b"), busy("c")], releases: [release(10, "b"), release(20, "c")] };

  it.each<{ name: string; given: Partial<CycleInput>; fields?: object; expected: string[] }>([
    { name: "visits each release once", given: three, expected: ["10: 2", "20: 3"] },
    { name: "leaves out instants with too few nodes", given: three, fields: { nodes: 3 }, expected: ["20: 3"] },
    {
      name: "visits nodes released together at once",
      given: { ...three, releases: [release(10, "b", "c")] },
      expected: ["10: 3"],
    },
    {
      name: "counts a reserved node until a start would overlap, and again after it",
      given: { ...three, foreignReservations: [foreign(15, 40, "a")] },
      // Ten minutes from minute 10 would overlap on a.
      expected: ["10: 1", "20: 2", "40: 3"],
    },
    {
      name: "counts a reserved node at the last instant before its reservation",
      given: { ...three, foreignReservations: [foreign(20, 40, "a")] },
      expected: ["10: 2", "20: 2", "40: 3"],
    },
    {
      name: "never counts a node again that is reserved for good",
      given: { ...three, foreignReservations: [foreign(15, null, "a", "b")] },
      expected: ["20: 1"],
    },
    {
      name: "uses the gap between two reservations",
      given: {
        ...three,
        nodes: [node("a")],
        releases: [],
        foreignReservations: [foreign(0, 10, "a"), foreign(20, 30, "a")],
      },
      expected: ["10: 1", "30: 1"],
    },
    {
      name: "does not use a gap that is too short",
      given: {
        ...three,
        nodes: [node("a")],
        releases: [],
        foreignReservations: [foreign(0, 10, "a"), foreign(19, 30, "a")],
      },
      expected: ["30: 1"],
    },
    {
      name: "has required nodes open, without counting them",
      given: three,
      fields: { nodes: 2, constraints: { requiredNodes: nodeIds("c") } },
      expected: ["20: 2"],
    },
    {
      name: "does not count excluded nodes",
      given: three,
      fields: { constraints: { excludedNodes: nodeIds("a", "b") } },
      expected: ["20: 1"],
    },
  ])("$name", ({ given, fields = {}, expected }) => {
    expect(sweep(given, fields)).toEqual(expected);
  });

  it.each<{ name: string; storageMBps: number; expected: string[] }>([
    { name: "visits the end of work elsewhere that returns what the job needs", storageMBps: 1, expected: ["10: 1"] },
    { name: "leaves it out for a job that needs none of it", storageMBps: 0, expected: [] },
  ])("$name", ({ storageMBps, expected }) => {
    const given = {
      nodes: [node("a")],
      releases: [{ ...release(10), storageMBps: 100 }],
      signals: { storage: { limit: 100, used: 0 } },
    };
    expect(sweep(given, { constraints: { storageMBps } })).toEqual(expected);
  });

  it("ends when the callback returns true", () => {
    expect(sweep(three, {}, 1)).toEqual(["10: 2"]);
  });
});
