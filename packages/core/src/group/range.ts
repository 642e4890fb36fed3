// The elements of a task group: every `step`-th index from `start` to `end`. Positions count them from 0.

import type { AllocationId } from "../ids.ts";

export interface ElementRange {
  readonly start: number;
  readonly end: number;
  readonly step: number;
}

export const sizeOf = ({ start, end, step }: ElementRange): number => Math.floor((end - start) / step) + 1;

export const indexAt = ({ start, step }: ElementRange, position: number): number => start + position * step;

/** Null: the group has no such element. */
export function positionOf({ start, end, step }: ElementRange, index: number): number | null {
  if (index < start || index > end || (index - start) % step !== 0) return null;
  return (index - start) / step;
}

export const elementId = (group: AllocationId, index: number): AllocationId => `${group}_${index}` as AllocationId;

/** Null for the id of anything but an element. */
export function elementOf(id: string): { readonly group: AllocationId; readonly index: number } | null {
  const cut = id.indexOf("_");
  if (cut < 0) return null;
  return { group: id.slice(0, cut) as AllocationId, index: Number(id.slice(cut + 1)) };
}

/** "0-99", "0-99:2". */
export const describeRange = ({ start, end, step }: ElementRange): string =>
  step === 1 ? `${start}-${end}` : `${start}-${end}:${step}`;
