// Reserved intervals: sets of nodes and counts, compared with a naive list of intervals and nodes.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { forEachBit, putBit } from "../../src/base/bits.ts";
import { machineOf } from "../../src/machine/machine.ts";
import { createPlanBuffers } from "../../src/machine/plan-buffers.ts";
import { type ReservedInterval, ReservedIntervals } from "../../src/plan/reserved-intervals.ts";
import { input, node } from "../make.ts";

const NODES = 70;
/** Three cells, of which one is scattered. */
const nodes = Array.from({ length: NODES }, (_, i) =>
  node(`n${String(i).padStart(2, "0")}`, { in: i < 40 ? "g1" : "g2", gpuCount: i % 7 === 0 ? 4 : 0 }),
);
const machine = machineOf(input({ nodes }));

const someInterval: fc.Arbitrary<ReservedInterval> = fc
  .record({
    startsAt: fc.nat(20),
    length: fc.oneof(fc.integer({ min: 1, max: 10 }), fc.constant(Number.POSITIVE_INFINITY)),
    nodes: fc.uniqueArray(fc.nat(NODES - 1), { minLength: 1, maxLength: 12 }),
  })
  .map(({ startsAt, length, nodes: taken }) => ({ startsAt, endsAt: startsAt + length, nodes: taken }));

type Change =
  | { readonly kind: "add"; readonly interval: ReservedInterval }
  | { readonly kind: "remove"; readonly pick: number };
const someChange: fc.Arbitrary<Change> = fc.oneof(
  { weight: 3, arbitrary: someInterval.map((interval) => ({ kind: "add" as const, interval })) },
  { weight: 1, arbitrary: fc.nat(30).map((pick) => ({ kind: "remove" as const, pick })) },
);

function numbersIn(bits: Uint32Array): number[] {
  const found: number[] = [];
  forEachBit(bits, (at) => void found.push(at));
  return found;
}

const nodesOf = (intervals: readonly ReservedInterval[]): number[] =>
  [...new Set(intervals.flatMap((interval) => interval.nodes))].sort((a, b) => a - b);

/** The free nodes by cell that are reserved before the instant. */
function naiveCounts(intervals: readonly ReservedInterval[], instant: number, free: ReadonlySet<number>): number[] {
  const counts = new Array<number>(machine.cells.count).fill(0);
  for (const at of nodesOf(intervals.filter(({ startsAt }) => startsAt < instant))) {
    const cell = machine.cells.ofNode[at] as number;
    if (free.has(at)) counts[cell] = (counts[cell] as number) + 1;
  }
  return counts;
}

describe("reserved intervals", () => {
  it("answer like a naive list after every change", () => {
    let removed = 0;
    fc.assert(
      fc.property(
        fc.array(someChange, { minLength: 1, maxLength: 36, size: "max" }),
        fc.nat(30),
        fc.nat(30),
        fc.uniqueArray(fc.nat(NODES - 1), { maxLength: 50 }),
        (changes, a, b, freeNodes) => {
          const buffers = createPlanBuffers(NODES);
          for (const at of freeNodes) putBit(buffers.plannedFree, at, true);
          const free = new Set(freeNodes);
          const intervals = new ReservedIntervals(machine, buffers);
          let list: ReservedInterval[] = [];
          const [from, to] = a < b ? [a, b] : [b, a + 1];
          for (const change of changes) {
            if (change.kind === "add") {
              intervals.add(change.interval);
              list.push(change.interval);
            } else {
              const gone = list[change.pick % Math.max(1, list.length)];
              if (gone === undefined) continue;
              intervals.remove(gone);
              list = list.filter((other) => other !== gone);
              removed += 1;
            }
            const overlapping = list.filter(({ startsAt, endsAt }) => startsAt < to && endsAt > from);
            expect(intervals.all()).toEqual(list);
            expect(numbersIn(intervals.reservedBefore(to))).toEqual(
              nodesOf(list.filter(({ startsAt }) => startsAt < to)),
            );
            expect(numbersIn(intervals.reservedWithin(from, to))).toEqual(nodesOf(overlapping));
            const { of, mark } = intervals.markReserved(from, to);
            expect([...of.keys()].filter((at) => of[at] === mark)).toEqual(nodesOf(overlapping));
            const counts = new Array<number>(machine.cells.count).fill(0);
            intervals.countReservedFree(to, (cell, count) => {
              counts[cell] = (counts[cell] as number) + count;
            });
            expect(counts).toEqual(naiveCounts(list, to, free));
          }
          expect([...intervals.nodes()].sort((x, y) => x - y)).toEqual(nodesOf(list));
          for (const at of [0, 7, 39, 40]) {
            expect(intervals.ofNode(at)).toEqual(list.filter((interval) => interval.nodes.includes(at)));
          }
        },
      ),
      { numRuns: 60 },
    );
    expect(removed).toBeGreaterThan(60);
  });

  it("are half open: an interval neither contains its end nor the instants before its start", () => {
    const intervals = new ReservedIntervals(machine, createPlanBuffers(NODES));
    intervals.add({ startsAt: 10, endsAt: 20, nodes: [3] });
    const within = (from: number, to: number): number[] => numbersIn(intervals.reservedWithin(from, to));
    expect([within(0, 10), within(0, 11), within(19, 30), within(20, 30)]).toEqual([[], [3], [3], []]);
    expect(numbersIn(intervals.reservedBefore(10))).toEqual([]);
    expect(numbersIn(intervals.reservedBefore(11))).toEqual([3]);
  });

  it("count free nodes again once a reserved node is taken or free again", () => {
    const buffers = createPlanBuffers(NODES);
    for (const at of [1, 2, 3]) putBit(buffers.plannedFree, at, true);
    const intervals = new ReservedIntervals(machine, buffers);
    intervals.add({ startsAt: 10, endsAt: 20, nodes: [1, 2] });
    const count = (): number => {
      let sum = 0;
      intervals.countReservedFree(15, (_, nodesOfCell) => {
        sum += nodesOfCell;
      });
      return sum;
    };
    expect(count()).toBe(2);
    putBit(buffers.plannedFree, 2, false);
    intervals.invalidateCounts([2]);
    expect(count()).toBe(1);
    putBit(buffers.plannedFree, 2, true);
    intervals.invalidateCounts([2, 3]);
    expect(count()).toBe(2);
  });
});
