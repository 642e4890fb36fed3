// The heap of numbers, compared with a sorted list.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { heapOf } from "../../src/base/heap.ts";

const byNumber = (a: number, b: number): number => a - b;

describe("a heap", () => {
  it("returns its numbers in order, then -1", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50), { maxLength: 40 }), (numbers) => {
        const heap = heapOf(Uint32Array.from(numbers), byNumber);
        const popped = numbers.map(() => heap.pop());
        expect(popped).toEqual([...numbers].sort(byNumber));
        expect([heap.pop(), heap.pop()]).toEqual([-1, -1]);
      }),
      { numRuns: 300 },
    );
  });

  it("has the remaining numbers after any number of pops", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50), { maxLength: 30 }), fc.nat(35), (numbers, count) => {
        const heap = heapOf(Uint32Array.from(numbers), byNumber);
        for (let i = 0; i < count; i += 1) heap.pop();
        expect([...heap.remaining()].sort(byNumber)).toEqual([...numbers].sort(byNumber).slice(count));
      }),
      { numRuns: 200 },
    );
  });

  it("orders by the given comparison, not by value", () => {
    const scores = [3, 1, 4, 1, 5, 9, 2, 6];
    const heap = heapOf(
      Uint32Array.from(scores.keys()),
      (a, b) => (scores[b] as number) - (scores[a] as number) || a - b,
    );
    expect(scores.map(() => heap.pop())).toEqual([5, 7, 4, 2, 0, 6, 1, 3]);
  });

  it("of nothing is empty", () => {
    const heap = heapOf(new Uint32Array(0), byNumber);
    expect(heap.pop()).toBe(-1);
    expect(heap.remaining()).toHaveLength(0);
  });
});
