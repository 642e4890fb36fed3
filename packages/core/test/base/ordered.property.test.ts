// The ordered set behind every queue: it must agree with a sorted list through any additions and removals, also across
// the places where its chunks split and vanish.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createOrdered, lookUp } from "../../src/base/ordered.ts";

const byNumber = (a: number, b: number): number => a - b;

function sortedTwin() {
  const items = new Set<number>();
  return { items, list: () => [...items].sort(byNumber) };
}

describe("an ordered set", () => {
  it("agrees with a sorted list through any changes", () => {
    const change = fc.tuple(fc.constantFrom("add", "add", "delete"), fc.integer({ min: 0, max: 60 }));
    fc.assert(
      fc.property(fc.array(change, { maxLength: 200 }), (changes) => {
        const set = createOrdered(byNumber);
        const twin = sortedTwin();
        for (const [kind, item] of changes) {
          if (kind === "add") {
            set.add(item);
            twin.items.add(item);
          } else {
            set.delete(item);
            twin.items.delete(item);
          }
          expect(set.size).toBe(twin.items.size);
        }
        expect([...set]).toEqual(twin.list());
      }),
    );
  });

  it.each([
    ["ascending", (n: number) => n],
    ["descending", (n: number) => -n],
    ["inside out", (n: number) => (n % 2 === 0 ? n : -n)],
    ["scattered", (n: number) => (n * 7919) % 5003],
  ])("sorts 5,000 items that are added %s, and becomes empty item by item", (_name, at) => {
    const set = createOrdered(byNumber);
    const items = Array.from({ length: 5000 }, (_, n) => at(n));
    for (const item of items) set.add(item);
    for (const item of items.slice(0, 100)) set.add(item);
    expect(set.size).toBe(5000);
    expect([...set]).toEqual(items.toSorted(byNumber));
    // Every other one, so that chunks shrink without vanishing.
    for (const item of items.filter((_, n) => n % 2 === 0)) set.delete(item);
    expect([...set]).toEqual(items.filter((_, n) => n % 2 === 1).sort(byNumber));
    for (const item of items) set.delete(item);
    expect([set.size, [...set]]).toEqual([0, []]);
    set.add(3);
    expect([...set]).toEqual([3]);
  });

  it.each([511, 512, 513, 1023, 1024, 1025, 1536])("of %i items accepts another item at any place", (count) => {
    for (const place of [-1, 1, count - 1, 2 * count + 1]) {
      const set = createOrdered(byNumber);
      for (let n = 0; n < count; n += 1) set.add(2 * n);
      set.add(place);
      const expected = [...Array.from({ length: count }, (_, n) => 2 * n), place].sort(byNumber);
      expect([...set]).toEqual([...new Set(expected)]);
    }
  });

  it("ignores the removal of what it does not contain", () => {
    const set = createOrdered(byNumber);
    set.delete(1);
    set.add(5);
    for (const absent of [4, 6]) set.delete(absent);
    expect([set.size, [...set]]).toEqual([1, [5]]);
  });
});

describe("a lookup of ids", () => {
  it("returns the known values in the order of the ids", () => {
    const kept = new Map([
      ["a", 1],
      ["b", 2],
    ]);
    expect([...lookUp(["b", "a", "c"], (key) => kept.get(key))]).toEqual([2, 1, undefined]);
  });
});
