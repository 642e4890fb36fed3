// Lists the waiting elements of a group without a record, as text: "5-7,9". Usually these are all positions from some
// point on, so nothing is scanned; after elements were cancelled one by one, or with counterparts, marks are scanned up
// to a limit, and the rest is replaced by "...".

import { type TaskGroup, waitingCount } from "./group.ts";
import type { ElementState } from "./marks.ts";
import { type ElementRange, indexAt, sizeOf } from "./range.ts";

/** Marks scanned for one text: lists show many groups. */
const MAX_LOOKED_AT = 20_000;
/** Ranges in one text. */
const MAX_PIECES = 200;

interface ElementStates {
  element(group: TaskGroup, index: number): ElementState | null;
}

/** Returns an empty text when no element waits. */
export function waitingIndexes(states: ElementStates, group: TaskGroup): string {
  const waiting = waitingCount(group);
  if (waiting === 0) return "";
  const { range } = group;
  const size = sizeOf(range);
  const first = group.counterparts.length === 0 ? group.next : 0;
  if (size - first === waiting) return textOf(range, first, size - 1).join(",");
  const end = Math.min(size, first + MAX_LOOKED_AT);
  const pieces: string[] = [];
  let found = 0;
  let begin: number | null = null;
  for (let position = first; position < end && pieces.length < MAX_PIECES; position += 1) {
    const waits = states.element(group, indexAt(range, position)) === "waiting";
    if (waits) {
      begin ??= position;
      found += 1;
    }
    if (begin !== null && (!waits || position === end - 1)) {
      pieces.push(...textOf(range, begin, waits ? position : position - 1));
      begin = null;
    }
  }
  return found < waiting ? [...pieces, "..."].join(",") : pieces.join(",");
}

/** Lists positions that are held individually, in order. */
export function heldIndexes({ range }: TaskGroup, positions: Iterable<number>): string {
  const pieces: string[] = [];
  let run: { readonly from: number; to: number } | null = null;
  for (const position of positions) {
    if (run !== null && position === run.to + 1) {
      run.to = position;
      continue;
    }
    if (run !== null) pieces.push(...textOf(range, run.from, run.to));
    if (pieces.length >= MAX_PIECES) return [...pieces, "..."].join(",");
    run = { from: position, to: position };
  }
  if (run !== null) pieces.push(...textOf(range, run.from, run.to));
  return pieces.join(",");
}

/** Splits adjacent positions into one range per run of the group's index list. */
function textOf(range: ElementRange, from: number, to: number): readonly string[] {
  if (range.runs === undefined) return [piece(range, from, to, range.step)];
  return range.runs.flatMap((run, n) => {
    const last = (range.runs?.[n + 1]?.before ?? sizeOf(range)) - 1;
    const [begin, end] = [Math.max(from, run.before), Math.min(to, last)];
    return begin > end ? [] : [piece(range, begin, end, run.step)];
  });
}

function piece(range: ElementRange, from: number, to: number, step: number): string {
  const [first, last] = [indexAt(range, from), indexAt(range, to)];
  if (first === last) return `${first}`;
  return step === 1 ? `${first}-${last}` : `${first}-${last}:${step}`;
}
