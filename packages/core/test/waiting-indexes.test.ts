// The waiting elements of a group as text.

import {
  type ElementRange,
  NO_COUNTS,
  positionOf,
  rangeOfRuns,
  sizeOf,
  type TaskGroup,
  waitingIndexes,
} from "@lattice/core";
import { expect, test } from "vitest";

/** A group whose elements at these positions wait, and all others have been made. */
function textOf(range: ElementRange, waiting: readonly number[], next: number): string {
  const group = {
    range,
    next,
    counterparts: [],
    counts: { ...NO_COUNTS, made: sizeOf(range) - waiting.length },
  } as unknown as TaskGroup;
  const set = new Set(waiting);
  return waitingIndexes(
    { element: (_, index) => (set.has(positionOf(range, index) ?? -1) ? "waiting" : "made") },
    group,
  );
}

const upTo = (from: number, to: number): readonly number[] => Array.from({ length: to - from + 1 }, (_, n) => from + n);

test("waiting elements that follow each other are written as one range", () => {
  expect(textOf({ start: 0, end: 9, step: 1 }, upTo(4, 9), 4)).toBe("4-9");
  expect(textOf({ start: 1, end: 9, step: 2 }, [2, 3, 4], 2)).toBe("5-9:2");
  expect(textOf({ start: 0, end: 9, step: 1 }, [9], 9)).toBe("9");
  expect(textOf({ start: 0, end: 9, step: 1 }, [], 10)).toBe("");
});

test("waiting elements with cancelled ones in between are written as several ranges", () => {
  expect(textOf({ start: 0, end: 9, step: 1 }, [4, 5, 8, 9], 3)).toBe("4-5,8-9");
  expect(textOf({ start: 10, end: 30, step: 5 }, [1, 3], 1)).toBe("15,25");
});

test("waiting elements of a list are written as the indexes of the list", () => {
  const range = rangeOfRuns([
    { start: 1, end: 1, step: 1 },
    { start: 3, end: 3, step: 1 },
    { start: 5, end: 7, step: 1 },
    { start: 10, end: 20, step: 5 },
  ]);
  expect(textOf(range, upTo(1, 7), 1)).toBe("3,5-7,10-20:5");
  expect(textOf(range, [1, 3, 4, 7], 1)).toBe("3,6-7,20");
});

test("a long list of waiting elements ends in dots", () => {
  const every = Array.from({ length: 5_000 }, (_, n) => 2 * n);
  const text = textOf({ start: 0, end: 9_999, step: 1 }, every, 0);
  expect(text.startsWith("0,2,4,")).toBe(true);
  expect(text.endsWith(",...")).toBe(true);
});
