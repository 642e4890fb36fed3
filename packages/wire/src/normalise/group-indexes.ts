// The elements of a task group for clients: their number, their text, and the index at each position. For tables and
// variables; the server validates ranges.

import { describeRange, type ElementRange, indexAt, parseIndexes, rangeOfRuns, sizeOf } from "@lattice/core";

/** `task_group` in JSON, in requests and responses. */
export interface WrittenRange {
  readonly start?: number;
  readonly end?: number;
  readonly step?: number;
  readonly indexes?: string;
}

interface GroupIndexes {
  readonly size: number;
  /** "0-99:2", "1,3,5-7". */
  readonly text: string;
  readonly step: number;
  /** `position` is from 0 to size - 1, in the order of the indexes. */
  at(position: number): number;
}

export function groupIndexes(written: WrittenRange): GroupIndexes {
  const range = rangeOf(written);
  return {
    size: sizeOf(range),
    text: describeRange(range),
    step: range.step,
    at: (position) => indexAt(range, position),
  };
}

function rangeOf({ start = 0, end = start, step = 1, indexes = "" }: WrittenRange): ElementRange {
  const parsed = indexes === "" ? null : parseIndexes(indexes);
  return parsed?.kind === "runs" ? rangeOfRuns(parsed.runs) : { start, end, step };
}
