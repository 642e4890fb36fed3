// Marks: one character per element of a task group, in chunks of 256. A mark in the wrong place cancels or runs the
// wrong element.

import { heldIndexes, NO_COUNTS, sizeOf, type TaskGroup, waitingIndexes } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  CHUNK_SIZE,
  chunkOf,
  countsCounterparts,
  type ElementState,
  elementState,
  heldMark,
  heldPositions,
  oneFewer,
  WAITING,
  withMark,
} from "../../../src/model/group/marks.ts";

describe("a mark", () => {
  it.each<[string, ElementState]>([
    [".", "waiting"],
    ["1", "waiting"],
    ["9", "waiting"],
    ["r", "waiting"],
    ["h", "waiting"],
    ["H", "waiting"],
    ["m", "made"],
    ["c", "completed"],
    ["f", "failed"],
    ["x", "cancelled"],
  ])("%s means that the element is %s", (mark, state) => {
    expect(elementState(mark)).toBe(state);
  });

  it("of a held element distinguishes a user's hold from an administrator's", () => {
    expect([".", "h", "H", "m"].map(heldMark)).toEqual([null, "user", "admin", null]);
  });

  it("of open counterparts counts down to ready", () => {
    expect(["9", "2", "1"].map(oneFewer)).toEqual(["8", "1", "r"]);
    expect([".", "0", "1", "9", "r", "m"].map(countsCounterparts)).toEqual([false, false, true, true, false, false]);
  });

  it("replaces one character of its chunk and no other", () => {
    fc.assert(
      fc.property(fc.nat(1023), fc.constantFrom("m", "c", "x", "h"), (position, mark) => {
        const marks = withMark(undefined, position, mark);
        expect(marks).toHaveLength(CHUNK_SIZE);
        const at = position - chunkOf(position) * CHUNK_SIZE;
        expect(marks[at]).toBe(mark);
        expect([...marks].filter((one) => one === WAITING)).toHaveLength(CHUNK_SIZE - 1);
        expect(withMark(marks, position, WAITING)).toBe(WAITING.repeat(CHUNK_SIZE));
      }),
    );
  });

  it.each([
    [0, 0],
    [255, 0],
    [256, 1],
    [511, 1],
    [512, 2],
  ])("of position %i is in chunk %i", (position, chunk) => {
    expect(chunkOf(position)).toBe(chunk);
  });
});

describe("the positions of held elements", () => {
  it("are found in every chunk, in order, by the kind of hold", () => {
    const chunks = [withMark(withMark(undefined, 3, "h"), 255, "H"), undefined, withMark(undefined, 0, "h")];
    const found = (as: "user" | "admin"): readonly number[] => [...heldPositions(600, as, (n) => chunks[n])];
    expect(found("user")).toEqual([3, 512]);
    expect(found("admin")).toEqual([255]);
    expect([...heldPositions(256, "user", (n) => chunks[n])]).toEqual([3]);
  });
});

const group = (change: Partial<TaskGroup>): TaskGroup =>
  ({
    range: { start: 0, end: 9, step: 1 },
    counts: NO_COUNTS,
    next: 0,
    counterparts: [],
    ...change,
  }) as unknown as TaskGroup;

/** A group of 10 elements with these marks. */
const marked = (marks: string, change: Partial<TaskGroup> = {}) => {
  const waiting = [...marks].filter((mark) => elementState(mark) === "waiting").length;
  const of = group({ counts: { ...NO_COUNTS, made: marks.length - waiting }, ...change });
  const states = {
    element: (_group: TaskGroup, index: number) => elementState(marks[(index - of.range.start) / of.range.step] ?? "."),
  };
  return waitingIndexes(states, of);
};

describe("the waiting elements in words", () => {
  it.each([
    ["..........", 0, "0-9"],
    ["mmm.......", 3, "3-9"],
    ["mmmmmmmmm.", 9, "9"],
    ["mmmmmmmmmm", 10, ""],
    ["mm.x..x.cc", 2, "2,4-5,7"],
    ["mmxxxxxxx.", 2, "9"],
  ])("of %s, of which the first %i exist or have ended, are %j", (marks, next, text) => {
    expect(marked(marks, { next })).toBe(text);
  });

  it("of a stepped range have the step", () => {
    expect(marked("mm........", { range: { start: 10, end: 28, step: 2 }, next: 2 })).toBe("14-28:2");
  });

  it("with counterparts are looked for from the first element on", () => {
    expect(marked("m.m.......", { counterparts: [0], next: 5 })).toBe("1,3-9");
  });

  it("end with dots where there are too many pieces", () => {
    const range = { start: 0, end: 999, step: 1 };
    const marks = "m.".repeat(500);
    const text = marked(marks, { range, next: 0 });
    expect(text.endsWith(",...")).toBe(true);
    expect(text.split(",")).toHaveLength(201);
    expect(sizeOf(range)).toBe(1000);
  });
});

describe("the held elements in words", () => {
  it.each([
    [[], ""],
    [[4], "4"],
    [[0, 1, 2], "0-2"],
    [[0, 2, 3, 9], "0,2-3,9"],
  ])("at %j are %j", (positions, text) => {
    expect(heldIndexes(group({}), positions)).toBe(text);
  });

  it("are indexes of the group, not positions", () => {
    expect(heldIndexes(group({ range: { start: 100, end: 118, step: 2 } }), [1, 2, 5])).toBe("102-104:2,110");
  });

  it("end with dots where there are too many pieces", () => {
    const range = { start: 0, end: 1999, step: 1 };
    const text = heldIndexes(
      group({ range }),
      Array.from({ length: 500 }, (_, n) => 2 * n),
    );
    expect(text.endsWith(",...")).toBe(true);
    expect(text.split(",")).toHaveLength(201);
  });
});
