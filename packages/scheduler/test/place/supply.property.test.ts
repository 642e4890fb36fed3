// The supply of nodes now and at a later instant, and the nodes that are picked from it, compared with a count of every
// node by time and intervals alone.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bitsOf, forEachBit } from "../../src/base/bits.ts";
import type { Job } from "../../src/fit/job.ts";
import type { Supply } from "../../src/place/node-request.ts";
import {
  availableBits,
  matchingBits,
  pickFree,
  pickLatest,
  pickNow,
  supplyAt,
  supplyNow,
} from "../../src/place/supply.ts";
import type { Draft } from "../../src/plan/draft.ts";
import { commitStart } from "../../src/plan/draft.ts";
import { someInput } from "../arbitrary.ts";
import { draftOf, jobFrom, jobOn, namesOf, numbersOf } from "../drafts.ts";
import { busy, MINUTE, NOW, node, nodeIds, release } from "../make.ts";

const someIntervals = fc.array(
  fc.record({
    from: fc.integer({ min: 0, max: 150 }),
    minutes: fc.oneof(fc.integer({ min: 1, max: 90 }), fc.constant(Number.POSITIVE_INFINITY)),
    nodes: fc.uniqueArray(fc.nat(8), { minLength: 1, maxLength: 4 }),
  }),
  { maxLength: 4 },
);

type Intervals = typeof someIntervals extends fc.Arbitrary<infer T> ? T : never;

function draftWith(given: Parameters<typeof draftOf>[0], intervals: Intervals): Draft {
  const draft = draftOf(given);
  const size = draft.machine.nodes.length;
  for (const { from, minutes, nodes } of intervals) {
    const startsAt = NOW + from * MINUTE;
    draft.reservedIntervals.add({
      startsAt,
      endsAt: startsAt + minutes * MINUTE,
      nodes: nodes.filter((at) => at < size).sort((a, b) => a - b),
    });
  }
  const free: number[] = [];
  forEachBit(draft.free, (at) => void free.push(at));
  const [first] = free;
  const [pending] = given.pending ?? [];
  if (first !== undefined && pending !== undefined) commitStart(draft, jobOn(draft, pending), [first]);
  return draft;
}

/** Available from then until the job would end, by the definitions. */
function isOpen({ availableFrom, reservedIntervals }: Draft, at: number, from: number, to: number): boolean {
  if ((availableFrom[at] as number) > from) return false;
  return reservedIntervals
    .all()
    .every(({ startsAt, endsAt, nodes }) => !nodes.includes(at) || startsAt >= to || endsAt <= from);
}

const matchesBy = ({ machine }: Draft, { match }: Job, at: number): boolean =>
  machine.nodes[at]?.usable === true && match.kinds[machine.kindOf[at] as number] === 1 && !match.excluded.has(at);

/** The nodes by cell that the supply should count: open, matching, and not required by name. */
function expectedCounts(draft: Draft, job: Job, from: number): Map<number, number> {
  const counts = new Map<number, number>();
  for (const at of draft.machine.nodes.keys()) {
    if (!matchesBy(draft, job, at) || job.match.required?.includes(at) === true) continue;
    if (!isOpen(draft, at, from, from + job.occupancy)) continue;
    const cell = draft.machine.cells.ofNode[at] as number;
    counts.set(cell, (counts.get(cell) ?? 0) + 1);
  }
  return counts;
}

function expectSupply(supply: Supply, expected: ReadonlyMap<number, number>): void {
  for (const cell of supply.cells) expect(supply.counts[cell]).toBe(expected.get(cell) ?? 0);
  expect(supply.total).toBe([...expected.values()].reduce((sum, count) => sum + count, 0));
}

describe("the supply", () => {
  it("now has the open nodes of each matching cell, and all of them can be picked", () => {
    let checked = 0;
    fc.assert(
      fc.property(someInput, someIntervals, (given, intervals) => {
        const draft = draftWith(given, intervals);
        for (const pending of given.pending.slice(1)) {
          const job = jobOn(draft, pending);
          if (job.match.required === null) continue;
          const end = draft.now + job.occupancy;
          const areOpen = job.match.required.every((at) => isOpen(draft, at, draft.now, end));
          const supply = supplyNow(draft, job);
          expect(supply === null).toBe(!areOpen);
          if (supply === null) continue;
          expectSupply(supply, expectedCounts(draft, job, draft.now));
          const picks = [...supply.cells].map((cell) => ({ cell, count: supply.counts[cell] as number }));
          const expected = [...draft.machine.nodes.keys()].filter(
            (at) => matchesBy(draft, job, at) && isOpen(draft, at, draft.now, end),
          );
          expect(pickNow(draft, job, picks)).toEqual(expected);
          checked += 1;
        }
      }),
      { numRuns: 150 },
    );
    expect(checked).toBeGreaterThan(300);
  });

  it("at an instant has the nodes released by then and not reserved meanwhile", () => {
    let checked = 0;
    fc.assert(
      fc.property(someInput, someIntervals, fc.integer({ min: 0, max: 200 }), (given, intervals, minutes) => {
        const draft = draftWith(given, intervals);
        const startsAt = NOW + minutes * MINUTE;
        for (const pending of given.pending.slice(1)) {
          const job = jobOn(draft, pending);
          if (job.match.required === null) continue;
          const expected = expectedCounts(draft, job, startsAt);
          const end = startsAt + job.occupancy;
          const areOpen = job.match.required.every((at) => isOpen(draft, at, startsAt, end));
          const supply = supplyAt(draft, job, startsAt);
          const total = [...expected.values()].reduce((sum, count) => sum + count, 0);
          if (supply === null) {
            // Excluded nodes may count in the first, cheap check, never the other way round.
            expect(areOpen && total + job.match.required.length >= job.nodesNeeded).toBe(false);
            continue;
          }
          expect(areOpen).toBe(true);
          expectSupply(supply, expected);
          const picks = [...supply.cells].map((cell) => ({ cell, count: supply.counts[cell] as number }));
          const all = [...draft.machine.nodes.keys()].filter(
            (at) => matchesBy(draft, job, at) && isOpen(draft, at, startsAt, end),
          );
          expect(pickLatest(draft, job, picks)).toEqual(all);
          checked += 1;
        }
      }),
      { numRuns: 150 },
    );
    expect(checked).toBeGreaterThan(200);
  });
});

describe("nodes picked for later", () => {
  const given = {
    nodes: [node("a"), busy("b"), busy("c"), busy("d"), node("e"), busy("f")],
    releases: [release(10, "b", "d"), release(20, "c"), release(30, "f")],
  };
  const picked = (count: number, minutes = 20, fields = {}): string | null => {
    const draft = draftOf(given);
    const job = jobFrom(draft, 1, { nodes: 1, ...fields });
    return supplyAt(draft, job, NOW + minutes * MINUTE) === null
      ? null
      : namesOf(draft, pickLatest(draft, job, [{ cell: 0, count }]));
  };
  it.each([
    { name: "the one released last", count: 1, expected: "c" },
    { name: "then the lower number of those released together", count: 2, expected: "b c" },
    { name: "then the other", count: 3, expected: "b c d" },
    { name: "free nodes last, the lower number first", count: 4, expected: "a b c d" },
    { name: "all of them", count: 5, expected: "a b c d e" },
  ])("are $name", ({ count, expected }) => {
    expect(picked(count)).toBe(expected);
  });

  it("contain the required nodes, and never an excluded one", () => {
    expect(picked(1, 20, { constraints: { requiredNodes: nodeIds("e") } })).toBe("c e");
    expect(picked(1, 20, { constraints: { excludedNodes: nodeIds("c") } })).toBe("b");
    expect(picked(1, 20, { constraints: { requiredNodes: nodeIds("f") } })).toBeNull();
    expect(picked(1, 30, { constraints: { requiredNodes: nodeIds("f") } })).toBe("c f");
  });
});

describe("nodes picked now", () => {
  it("are the lowest numbers that are not closed, ascending, required ones included", () => {
    const draft = draftOf({ nodes: ["a", "b", "c", "d", "e"].map((id) => node(id)) });
    const job = jobFrom(draft, 1, { constraints: { requiredNodes: nodeIds("e"), excludedNodes: nodeIds("b") } });
    const closed = bitsOf(numbersOf(draft, "a"), 5);
    expect(namesOf(draft, pickFree(draft, job, [{ cell: 0, count: 1 }], closed))).toBe("c e");
    expect(namesOf(draft, pickFree(draft, job, [{ cell: 0, count: 0 }], closed))).toBe("e");
  });

  it("end a job exactly when a reservation starts", () => {
    const draft = draftOf({ nodes: [node("a"), node("b")] });
    const job = jobFrom(draft, 1, { minutes: 9.5 });
    draft.reservedIntervals.add({ startsAt: NOW + 10 * MINUTE, endsAt: NOW + 20 * MINUTE, nodes: [0] });
    expect(supplyNow(draft, job)?.total).toBe(2);
    expect(supplyNow(draft, jobFrom(draft, 2, { minutes: 9.6 }))?.total).toBe(1);
    const bits = availableBits(draft, jobFrom(draft, 3, { minutes: 1 }), NOW + 20 * MINUTE);
    expect([...bits]).toEqual([3]);
  });

  it("match by hardware: the set has the nodes of matching kinds only", () => {
    const draft = draftOf({
      nodes: [node("a"), node("b", { gpuCount: 4 }), node("c", { gpuCount: 4, usable: false })],
    });
    const { hardware } = jobFrom(draft, 1, { constraints: { gpuCount: 1 } }).match;
    expect([...matchingBits(draft.machine, hardware)]).toEqual([2]);
  });
});
