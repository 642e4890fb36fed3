// The elements of task groups, counted by phase, and the positions whose counterparts are met. Derived from the records and
// marks, neither hashed nor stored.

import { compareAllocationIds } from "../base/id-order.ts";
import type { AllocationId } from "../base/ids.ts";
import { createOrdered, type Ordered } from "../base/ordered.ts";
import type { Allocation } from "../model/allocation/allocation.ts";
import { CHUNK_SIZE, type MarkChunk, READY } from "../model/group/marks.ts";

interface ElementIndex {
  /** Elements with a record in the state. */
  readonly records: Ordered<AllocationId>;
  pending(group: AllocationId): number;
  /** Suspended until a user resumes them. */
  suspended(group: AllocationId): number;
  /** Pending without a hold. */
  startable(group: AllocationId): number;
  /** Positions whose counterparts are met and which have no record yet. */
  ready(group: AllocationId): Ordered<number>;
  allocationReplaced(before: Allocation | undefined, after: Allocation | undefined): void;
  marksReplaced(before: MarkChunk | undefined, after: MarkChunk | undefined): void;
  groupEnded(group: AllocationId): void;
}

const byPosition = (a: number, b: number): number => a - b;
const NOTHING_READY = createOrdered<number>(byPosition);

export function createElementIndex(): ElementIndex {
  const elements = createOrdered(compareAllocationIds);
  const pendingElements = new Map<AllocationId, number>();
  const restingElements = new Map<AllocationId, number>();
  const heldElements = new Map<AllocationId, number>();
  const ready = new Map<AllocationId, Ordered<number>>();

  function allocationReplaced(before: Allocation | undefined, after: Allocation | undefined): void {
    const element = after?.element ?? before?.element;
    const id = (after ?? before)?.id;
    if (element === undefined || id === undefined) return;
    if (before === undefined) elements.add(id);
    if (after === undefined) elements.delete(id);
    countIn(pendingElements, element.group, Number(isPending(after)) - Number(isPending(before)));
    countIn(heldElements, element.group, Number(after?.hold !== undefined) - Number(before?.hold !== undefined));
    countIn(restingElements, element.group, Number(isResting(after)) - Number(isResting(before)));
  }

  function readyOf(group: AllocationId): Ordered<number> {
    const known = ready.get(group);
    if (known !== undefined) return known;
    const fresh = createOrdered<number>(byPosition);
    ready.set(group, fresh);
    return fresh;
  }

  return {
    records: elements,
    pending: (group) => pendingElements.get(group) ?? 0,
    suspended: (group) => restingElements.get(group) ?? 0,
    startable: (group) => (pendingElements.get(group) ?? 0) - (heldElements.get(group) ?? 0),
    ready: (group) => ready.get(group) ?? NOTHING_READY,
    allocationReplaced,
    marksReplaced(before, after) {
      const chunk = after ?? before;
      if (chunk === undefined) return;
      const length = Math.max(before?.marks.length ?? 0, after?.marks.length ?? 0);
      for (let at = 0; at < length; at += 1) {
        const was = before?.marks[at] === READY;
        const is = after?.marks[at] === READY;
        if (was === is) continue;
        const position = chunk.n * CHUNK_SIZE + at;
        if (was) ready.get(chunk.group)?.delete(position);
        else readyOf(chunk.group).add(position);
      }
    },
    groupEnded: (group) => void ready.delete(group),
  };
}

const isPending = (record: Allocation | undefined): boolean => record?.phase.kind === "pending";

function countIn(counts: Map<AllocationId, number>, group: AllocationId, change: number): void {
  if (change === 0) return;
  const count = (counts.get(group) ?? 0) + change;
  if (count === 0) counts.delete(group);
  else counts.set(group, count);
}

/** Allocations that are suspended for another cause return to the queue without a user. */
export const isResting = (record: Allocation | undefined): boolean =>
  record?.phase.kind === "suspended" && record.phase.cause === "walltime";
