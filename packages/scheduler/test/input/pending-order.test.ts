// The fixed orders of pending allocations: by submission, and by id.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareSubmission, indexById } from "../../src/input/pending-order.ts";
import { allocationId, job } from "../make.ts";

describe("the order by submission", () => {
  it.each([
    { name: "the earlier submission is first", a: job(2, { waited: 5 }), b: job(1, { waited: 4 }), expected: -1 },
    { name: "the later submission is second", a: job(1, { waited: 4 }), b: job(2, { waited: 5 }), expected: 1 },
    { name: "equal submissions go by number, not by text", a: job(9), b: job(10), expected: -1 },
    { name: "an element follows its group", a: job("7_1"), b: job(7), expected: 1 },
    { name: "elements go by number", a: job("7_9"), b: job("7_10"), expected: -1 },
    { name: "an allocation equals itself", a: job(3), b: job(3), expected: 0 },
  ])("$name", ({ a, b, expected }) => {
    expect(Math.sign(compareSubmission(a, b))).toBe(expected);
    expect(Math.sign(compareSubmission(b, a)) + 0).toBe(-expected + 0);
  });
});

describe("the index of an id", () => {
  const pending = [1, 3, 9, 10, 200].map((id) => job(id));
  it.each([
    { id: 1, expected: 0 },
    { id: 9, expected: 2 },
    { id: 10, expected: 3 },
    { id: 200, expected: 4 },
    { id: 0, expected: 0 },
    { id: 2, expected: 1 },
    { id: 100, expected: 4 },
    { id: 201, expected: 5 },
  ])("of $id is $expected, known or not", ({ id, expected }) => {
    expect(indexById(pending, allocationId(id))).toBe(expected);
  });

  it("in an empty list is 0", () => {
    expect(indexById([], allocationId(1))).toBe(0);
  });

  it("keeps a list sorted that is built one by one", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(300), { maxLength: 30 }), (ids) => {
        const list: ReturnType<typeof job>[] = [];
        for (const id of ids) list.splice(indexById(list, allocationId(id)), 0, job(id));
        expect(list.map(({ id }) => Number(id))).toEqual([...ids].sort((a, b) => a - b));
        for (const id of ids) expect(list[indexById(list, allocationId(id))]?.id).toBe(String(id));
      }),
      { numRuns: 200 },
    );
  });
});
