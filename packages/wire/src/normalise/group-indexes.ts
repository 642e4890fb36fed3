// The elements of a task group as clients see it: how many there are, how they are written, and which index
// stands where. For tables and variables; whether a range is a good one is the server's to say.

import { describeRange, type ElementRange, indexAt, parseIndexes, rangeOfRuns, sizeOf } from "@lattice/core";

/** `task_group` in JSON, as it is sent and as it is answered. */
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
  /** From 0 to size - 1, in the order of the indexes. */
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
