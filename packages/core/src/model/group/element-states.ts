// Which elements of a group wait their turn and have no record of their own yet, as text: "5-7,9". Mostly they are
// all from some position on, and nothing is walked over; after elements were cancelled one by one, or with
// counterparts, marks are looked at up to a limit, and what is beyond it is left out with "...".

import { type TaskGroup, waitingCount } from "./group.ts";
import type { ElementState } from "./marks.ts";
import { type ElementRange, indexAt, sizeOf } from "./range.ts";

/** Marks looked at for one text: lists show many groups. */
const MOST_LOOKED_AT = 20_000;
/** Pieces of one text. */
const MOST_PIECES = 200;

interface ElementStates {
  element(group: TaskGroup, index: number): ElementState | null;
}

/** Empty: none waits. */
export function waitingIndexes(states: ElementStates, group: TaskGroup): string {
  const waiting = waitingCount(group);
  if (waiting === 0) return "";
  const { range } = group;
  const size = sizeOf(range);
  const first = group.counterparts === undefined ? group.next : 0;
  if (size - first === waiting) return textOf(range, first, size - 1).join(",");
  const end = Math.min(size, first + MOST_LOOKED_AT);
  const pieces: string[] = [];
  let found = 0;
  let begin: number | null = null;
  for (let position = first; position < end && pieces.length < MOST_PIECES; position += 1) {
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

/** Of positions in order that are held one by one; empty: none. */
export function heldIndexes({ range }: TaskGroup, positions: Iterable<number>): string {
  const pieces: string[] = [];
  let run: { readonly from: number; to: number } | null = null;
  for (const position of positions) {
    if (run !== null && position === run.to + 1) {
      run.to = position;
      continue;
    }
    if (run !== null) pieces.push(...textOf(range, run.from, run.to));
    if (pieces.length >= MOST_PIECES) return [...pieces, "..."].join(",");
    run = { from: position, to: position };
  }
  if (run !== null) pieces.push(...textOf(range, run.from, run.to));
  return pieces.join(",");
}

/** Of positions side by side: one piece for each run of the group's list that they touch. */
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
