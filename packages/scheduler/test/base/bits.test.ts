// Sets of nodes as bits, compared with plain sets of numbers.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  addAll,
  bitsOf,
  clearAll,
  countBetween,
  countBits,
  forEachBit,
  hasBit,
  intersects,
  isSubset,
  keepOnly,
  keepOpen,
  ones,
  putBit,
  walkBetween,
  wordsFor,
} from "../../src/base/bits.ts";

const SIZE = 100;
const someNumbers = fc.uniqueArray(fc.nat(SIZE - 1), { maxLength: 40 });

/** Returns the numbers in the set, in the order in which they are visited. */
function numbersIn(bits: Uint32Array): number[] {
  const found: number[] = [];
  forEachBit(bits, (node) => void found.push(node));
  return found;
}

const ascending = (numbers: Iterable<number>): number[] => [...numbers].sort((a, b) => a - b);
const copyOf = (numbers: readonly number[]): Uint32Array => bitsOf(numbers, SIZE).slice();

describe("a set of bits", () => {
  it.each([
    [0, 0],
    [1, 1],
    [31, 1],
    [32, 1],
    [33, 2],
    [64, 2],
    [65, 3],
  ])("of %i nodes has %i words", (size, words) => {
    expect(wordsFor(size)).toBe(words);
  });

  it.each([
    [0, 0],
    [1, 1],
    [0x8000_0000, 1],
    [0xffff_ffff, 32],
    [0x5555_5555, 16],
    [0xf0f0_f0f1, 17],
  ])("counts the ones of word %i as %i", (word, expected) => {
    expect(ones(word)).toBe(expected);
    expect(ones(word | 0)).toBe(expected);
  });

  it("holds exactly the nodes it was made of, visited lowest first", () => {
    fc.assert(
      fc.property(someNumbers, (numbers) => {
        const bits = bitsOf(numbers, SIZE);
        expect(numbersIn(bits)).toEqual(ascending(numbers));
        expect(countBits(bits)).toBe(numbers.length);
        for (let node = 0; node < SIZE; node += 1) expect(hasBit(bits, node)).toBe(numbers.includes(node));
      }),
      { numRuns: 200 },
    );
  });

  it("is cached for a list, and built again for another number of nodes", () => {
    const list = [1, 40];
    expect(bitsOf(list, 64)).toBe(bitsOf(list, 64));
    expect(bitsOf(list, 64)).toBe(bitsOf(list, 60));
    expect(bitsOf(list, 65)).toHaveLength(3);
    expect(numbersIn(bitsOf(list, 65))).toEqual([1, 40]);
  });

  it("takes and drops single nodes", () => {
    fc.assert(
      fc.property(someNumbers, fc.nat(SIZE - 1), fc.boolean(), (numbers, node, isSet) => {
        const bits = copyOf(numbers);
        putBit(bits, node, isSet);
        const expected = new Set(numbers);
        if (isSet) expected.add(node);
        else expected.delete(node);
        expect(numbersIn(bits)).toEqual(ascending(expected));
      }),
      { numRuns: 200 },
    );
  });

  it.each([true, false])("keeps what is not closed, and counts it (within another set: %s)", (isSelective) => {
    fc.assert(
      fc.property(someNumbers, someNumbers, someNumbers, (some, closed, only) => {
        const bits = copyOf(some);
        const left = some.filter((node) => !closed.includes(node) && (!isSelective || only.includes(node)));
        expect(keepOpen(bits, bitsOf(closed, SIZE), isSelective ? bitsOf(only, SIZE) : null)).toBe(left.length);
        expect(numbersIn(bits)).toEqual(ascending(left));
      }),
      { numRuns: 100 },
    );
  });

  it("is combined with another set like a plain set", () => {
    fc.assert(
      fc.property(someNumbers, someNumbers, (some, others) => {
        const combined = (change: (bits: Uint32Array, with_: Uint32Array) => void): number[] => {
          const bits = copyOf(some);
          change(bits, bitsOf(others, SIZE));
          return numbersIn(bits);
        };
        expect(combined(addAll)).toEqual(ascending(new Set([...some, ...others])));
        expect(combined(clearAll)).toEqual(ascending(some.filter((node) => !others.includes(node))));
        expect(combined(keepOnly)).toEqual(ascending(some.filter((node) => others.includes(node))));
        const [a, b] = [bitsOf(some, SIZE), bitsOf(others, SIZE)];
        expect(intersects(a, b)).toBe(some.some((node) => others.includes(node)));
        expect(isSubset(a, b)).toBe(some.every((node) => others.includes(node)));
        expect(isSubset(a, bitsOf([...some, ...others], SIZE))).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});

describe("a range of bits", () => {
  it("is counted and walked with both ends included", () => {
    fc.assert(
      fc.property(someNumbers, fc.nat(SIZE - 1), fc.nat(SIZE - 1), (numbers, a, b) => {
        const [first, last] = a <= b ? [a, b] : [b, a];
        const expected = ascending(numbers).filter((node) => node >= first && node <= last);
        const bits = bitsOf(numbers, SIZE);
        expect(countBetween(bits, first, last)).toBe(expected.length);
        const walked: number[] = [];
        walkBetween(bits, first, last, (node) => {
          walked.push(node);
          return true;
        });
        expect(walked).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ["within one word", 3, 7],
    ["of one bit", 5, 5],
    ["up to the end of a word", 0, 31],
    ["from the start of a word", 32, 40],
    ["over three words", 30, 70],
  ])("%s counts every bit of a full set", (_, first, last) => {
    const full = bitsOf(
      Array.from({ length: SIZE }, (_, node) => node),
      SIZE,
    );
    expect(countBetween(full, first, last)).toBe(last - first + 1);
  });

  it.each([1, 2, 3])("stops after %i nodes when the visitor returns true", (most) => {
    const walked: number[] = [];
    walkBetween(bitsOf([2, 31, 32, 64, 99], SIZE), 0, SIZE - 1, (node) => {
      walked.push(node);
      return walked.length < most;
    });
    expect(walked).toEqual([2, 31, 32].slice(0, most));
  });
});
