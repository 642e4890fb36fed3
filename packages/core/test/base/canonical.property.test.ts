// Canonical text: two replicas that built one value in different ways must write the same text, because they hash it.

import { canonical, compareAllocationIds } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byCodeUnits } from "../../src/base/canonical.ts";
import { id } from "../support/cluster.ts";

/** Keys in another order, at every depth. */
function rebuilt(value: unknown, shuffle: (keys: string[]) => string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => rebuilt(item, shuffle));
  if (typeof value !== "object" || value === null) return value;
  const entries = value as Record<string, unknown>;
  const copy: Record<string, unknown> = {};
  for (const key of shuffle(Object.keys(entries))) copy[key] = rebuilt(entries[key], shuffle);
  return copy;
}

const json = fc.jsonValue({ maxDepth: 4 }).filter((value) => JSON.stringify(value).indexOf("__proto__") < 0);

describe("canonical text", () => {
  it("does not depend on the order in which an object was built", () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = canonical(value);
        expect(canonical(rebuilt(value, (keys) => keys.toReversed()))).toBe(text);
        expect(canonical(rebuilt(value, (keys) => keys.toSorted()))).toBe(text);
      }),
      { numRuns: 300 },
    );
  });

  it("reads back as the same value", () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = canonical(value);
        expect(canonical(JSON.parse(text))).toBe(text);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 300 },
    );
  });

  it("is different for different values", () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        const same =
          JSON.stringify(rebuilt(a, (k) => k.toSorted())) === JSON.stringify(rebuilt(b, (k) => k.toSorted()));
        expect(canonical(a) === canonical(b)).toBe(same);
      }),
      { numRuns: 300 },
    );
  });

  it.each([1, 2, 23, 24, 25, 26, 100])("of an object with %i keys lists them in order of code units", (count) => {
    const keys = Array.from({ length: count }, (_, n) => `${(n * 7919) % 1009}k`);
    const object = Object.fromEntries(keys.map((key) => [key, 1]));
    const written = Object.keys(JSON.parse(canonical(object)) as object);
    // Keys that look like array indexes would be reordered by the parser, these do not.
    expect(written).toEqual([...new Set(keys)].sort(byCodeUnits));
  });

  it.each([63, 64, 65])("of a string of %i characters equals JSON", (length) => {
    const text = "x".repeat(length);
    expect(canonical(text)).toBe(JSON.stringify(text));
    expect(canonical(`${text}"`)).toBe(JSON.stringify(`${text}"`));
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])("does not exist for %s", (value) => {
    expect(() => canonical({ a: [value] })).toThrow("not finite");
  });

  it.each([
    ["a function", () => 1],
    ["undefined", undefined],
    ["a symbol", Symbol("x")],
    ["a bigint", 1n],
  ])("does not exist for %s in a list", (_name, value) => {
    expect(() => canonical([value])).toThrow("no canonical text");
  });
});

describe("the order of names", () => {
  it("is by code units and total, never by locale", () => {
    expect(["b", "B", "a", "ä", "Z", ""].sort(byCodeUnits)).toEqual(["", "B", "Z", "a", "b", "ä"]);
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        expect(Math.sign(byCodeUnits(a, b)) + Math.sign(byCodeUnits(b, a))).toBe(0);
        expect(byCodeUnits(a, b) === 0).toBe(a === b);
      }),
    );
  });
});

describe("the order of allocation ids", () => {
  const ids = fc
    .tuple(fc.integer({ min: 1, max: 2000 }), fc.option(fc.integer({ min: 0, max: 2000 }), { nil: undefined }))
    .map(([n, index]) => ({ n, index: index ?? -1, text: id(index === undefined ? n : `${n}_${index}`) }));

  it("equals the order of the numbers, with a group before its elements", () => {
    fc.assert(
      fc.property(ids, ids, (a, b) => {
        const expected = a.n - b.n || a.index - b.index;
        expect(Math.sign(compareAllocationIds(a.text, b.text))).toBe(Math.sign(expected));
      }),
      { numRuns: 1000 },
    );
  });

  it("sorts any list the same way, whatever its order before", () => {
    fc.assert(
      fc.property(fc.uniqueArray(ids, { selector: ({ text }) => text, maxLength: 40 }), (list) => {
        const sorted = list.map(({ text }) => text).sort(compareAllocationIds);
        expect(sorted.toReversed().sort(compareAllocationIds)).toEqual(sorted);
        expect(sorted).toEqual(list.toSorted((a, b) => a.n - b.n || a.index - b.index).map(({ text }) => text));
      }),
    );
  });
});
