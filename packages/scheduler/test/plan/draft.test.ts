// The draft of a plan: starts, their undoing, shared starts, and the order of releases.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countBits, forEachBit } from "../../src/base/bits.ts";
import type { CycleInput } from "../../src/index.ts";
import { countByCell } from "../../src/machine/cell-bits.ts";
import { commitShared, commitStart, countFreeMatching, type Draft, isFree, undoStart } from "../../src/plan/draft.ts";
import { setReleasedBy } from "../../src/plan/release-order.ts";
import { someInput } from "../arbitrary.ts";
import { draftOf, jobFrom, jobOn, numbersOf } from "../drafts.ts";
import { busy, MINUTE, NOW, node, release } from "../make.ts";

/** Everything in a draft that a start changes. */
const stateOf = (draft: Draft) => ({
  availableFrom: [...draft.availableFrom],
  free: [...draft.free],
  freeIn: [...draft.freeIn],
  freeOfKind: [...draft.freeOfKind],
  freeCount: draft.freeCount,
  changed: [...draft.changedNodes],
  started: [...draft.startedNodes],
  placed: [...draft.placed],
  starts: [...draft.starts],
});

/** The counts agree with the set of free nodes. */
function expectConsistent(draft: Draft): void {
  const { machine, free } = draft;
  expect(draft.freeCount).toBe(countBits(free));
  expect([...draft.freeIn]).toEqual([...countByCell(free, machine.cells)]);
  const ofKind = new Array<number>(machine.kinds.length).fill(0);
  forEachBit(free, (at) => {
    const kind = machine.kindOf[at] as number;
    ofKind[kind] = (ofKind[kind] as number) + 1;
  });
  expect([...draft.freeOfKind]).toEqual(ofKind);
}

describe("a start", () => {
  it("occupies its nodes for walltime and grace", () => {
    const draft = draftOf({ nodes: [node("a"), node("b")] });
    commitStart(draft, jobFrom(draft, 1, { minutes: 10 }), numbersOf(draft, "b"));
    expect(isFree(draft, 0)).toBe(true);
    expect(isFree(draft, 1)).toBe(false);
    expect(draft.availableFrom[1]).toBe(NOW + 10.5 * MINUTE);
    expect(countFreeMatching(draft, jobFrom(draft, 2))).toBe(1);
    expectConsistent(draft);
  });

  it("of an unbounded job occupies its nodes forever", () => {
    const draft = draftOf({ nodes: [node("a")] });
    commitStart(draft, jobFrom(draft, 1, { minutes: null }), [0]);
    expect(draft.availableFrom[0]).toBe(Number.POSITIVE_INFINITY);
  });

  it("is undone without a trace, in any order of several", () => {
    let undone = 0;
    fc.assert(
      fc.property(someInput, fc.nat(100), (given, seed) => {
        const draft = draftOf(given);
        const before = stateOf(draft);
        const starts: { readonly id: number; readonly nodes: readonly number[] }[] = [];
        for (const at of given.pending.keys()) {
          const free: number[] = [];
          forEachBit(draft.free, (each) => void free.push(each));
          const nodes = free.slice(0, 1 + ((seed + at) % 3));
          if (nodes.length === 0) break;
          commitStart(draft, jobOn(draft, given.pending[at] as CycleInput["pending"][number]), nodes);
          expectConsistent(draft);
          starts.push({ id: at, nodes });
        }
        const order = seed % 2 === 0 ? starts : [...starts].reverse();
        for (const { id, nodes } of order) {
          undoStart(draft, jobOn(draft, given.pending[id] as CycleInput["pending"][number]), nodes);
          expectConsistent(draft);
          undone += 1;
        }
        expect(stateOf(draft)).toEqual(before);
      }),
      { numRuns: 150 },
    );
    expect(undone).toBeGreaterThan(100);
  });

  it("makes reserved nodes no longer count as free", () => {
    const draft = draftOf({ nodes: [node("a"), node("b")] });
    draft.reservedIntervals.add({ startsAt: NOW + 1, endsAt: NOW + 2, nodes: [0] });
    const reservedFree = (): number => {
      let sum = 0;
      draft.reservedIntervals.countReservedFree(NOW + 5, (_, count) => {
        sum += count;
      });
      return sum;
    };
    expect(reservedFree()).toBe(1);
    const first = jobFrom(draft, 1);
    commitStart(draft, first, [0]);
    expect(reservedFree()).toBe(0);
    undoStart(draft, first, [0]);
    expect(reservedFree()).toBe(1);
  });
});

describe("a shared start", () => {
  const given = { nodes: [busy("a"), busy("b")], releases: [release(30, "a", "b")] };

  it.each([
    { name: "that ends later keeps the node longer", minutes: 60, from: 60.5, started: [0] },
    { name: "that ends earlier changes nothing", minutes: 10, from: 30, started: [] },
    { name: "that ends with the others changes nothing", minutes: 29.5, from: 30, started: [] },
  ])("$name", ({ minutes, from, started }) => {
    const draft = draftOf(given);
    commitShared(draft, jobFrom(draft, 1, { minutes }), 0);
    expect(draft.availableFrom[0]).toBe(NOW + from * MINUTE);
    expect(draft.startedNodes).toEqual(started);
    expect([...draft.placed]).toEqual(["1"]);
    expect(draft.freeCount).toBe(0);
  });

  it("twice on one node lists the node once", () => {
    const draft = draftOf(given);
    commitShared(draft, jobFrom(draft, 1, { minutes: 60 }), 1);
    commitShared(draft, jobFrom(draft, 2, { minutes: 90 }), 1);
    expect(draft.startedNodes).toEqual([1]);
    expect(draft.availableFrom[1]).toBe(NOW + 90.5 * MINUTE);
  });
});

describe("the nodes released by an instant", () => {
  it("are those available by then, for instants in any order and after any starts", () => {
    const someMinutes = fc.array(fc.integer({ min: -10, max: 250 }), { minLength: 3, maxLength: 8 });
    fc.assert(
      fc.property(someInput, someMinutes, (given, minutes) => {
        const draft = draftOf(given);
        const [first] = given.pending;
        for (const [at, each] of minutes.entries()) {
          const instant = NOW + Math.max(0, each) * MINUTE;
          const bits = new Uint32Array(draft.free.length);
          setReleasedBy(draft, instant, bits);
          const expected = [...draft.availableFrom.keys()].filter((n) => (draft.availableFrom[n] as number) <= instant);
          const found: number[] = [];
          forEachBit(bits, (n) => void found.push(n));
          expect(found).toEqual(expected);
          const free = expected.find((n) => isFree(draft, n));
          if (at === 1 && first !== undefined && free !== undefined) commitStart(draft, jobOn(draft, first), [free]);
        }
      }),
      { numRuns: 150 },
    );
  });
});
