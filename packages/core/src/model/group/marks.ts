// One character for each element of a group, in chunks, so that a change replaces a short text and a
// snapshot of a million elements is a few thousand lines. A chunk that is not there is all waiting.
//
//   .      waits its turn        1 to 9  waits for this many counterparts  r  its counterparts are met
//   h      waits, held by its owner     H  waits, held by an administrator
//   m      has been made         c  completed      f  failed      x  cancelled

import type { AllocationId } from "../../base/ids.ts";
import type { HoldKind } from "../hold.ts";
import type { EndKind } from "../spec/dependency.ts";

export const CHUNK_SIZE = 256;

export interface MarkChunk {
  readonly group: AllocationId;
  readonly n: number;
  readonly marks: string;
}

export type MarkKey = string;

export const markKey = (group: AllocationId, n: number): MarkKey => `${group}/${n}`;

export const chunkOf = (position: number): number => Math.floor(position / CHUNK_SIZE);

export const WAITING = ".";
export const READY = "r";
export const MADE = "m";
export const END_MARKS: Readonly<Record<EndKind, string>> = { completed: "c", failed: "f", cancelled: "x" };

export const HELD_MARKS: Readonly<Record<HoldKind, string>> = { user: "h", admin: "H" };

/** Returns `null` when the element is not held, or not by its mark. */
export function heldMark(mark: string): HoldKind | null {
  if (mark === HELD_MARKS.user) return "user";
  return mark === HELD_MARKS.admin ? "admin" : null;
}

/** Yields the positions held by their marks in a group of `size`, in order; a chunk without any costs one look. */
export function* heldPositions(
  size: number,
  as: HoldKind,
  marksOf: (chunk: number) => string | undefined,
): Generator<number> {
  for (let chunk = 0; chunk * CHUNK_SIZE < size; chunk += 1) {
    const marks = marksOf(chunk) ?? "";
    for (let at = marks.indexOf(HELD_MARKS[as]); at >= 0; at = marks.indexOf(HELD_MARKS[as], at + 1)) {
      yield chunk * CHUNK_SIZE + at;
    }
  }
}

export type ElementState = "waiting" | "made" | EndKind;

const STATES: Readonly<Record<string, ElementState>> = {
  m: "made",
  c: "completed",
  f: "failed",
  x: "cancelled",
};

export const elementState = (mark: string): ElementState => STATES[mark] ?? "waiting";

export function withMark(marks: string | undefined, position: number, mark: string): string {
  const all = marks ?? WAITING.repeat(CHUNK_SIZE);
  const at = position % CHUNK_SIZE;
  return all.slice(0, at) + mark + all.slice(at + 1);
}

/** Returns the mark with one counterpart fewer. */
export const oneFewer = (mark: string): string => (mark === "1" ? READY : String(Number(mark) - 1));

export const countsCounterparts = (mark: string): boolean => mark >= "1" && mark <= "9";
