// The dependency indexes, derived from the records and updated at every replacement: blocked allocations, the dependents
// of each end, holders of mutex names and the allocations that want them, and what each task group has in the queue.
// Nothing here is hashed or stored; a restored state rebuilds it.

import { compareAllocationIds } from "../base/id-order.ts";
import type { AllocationId } from "../base/ids.ts";
import { createOrdered, type Ordered } from "../base/ordered.ts";
import type { Allocation } from "../model/allocation/allocation.ts";
import { hasGroupEnded, type TaskGroup } from "../model/group/group.ts";
import type { MarkChunk } from "../model/group/marks.ts";
import type { Dependency } from "../model/spec/dependency.ts";
import { createElementIndex } from "./element-index.ts";
import { createMutexIndex, type Lock } from "./mutex-index.ts";

export interface Flows {
  /** Pending, with dependencies that are not met. */
  readonly blocked: Ordered<AllocationId>;
  /** Records of elements that are in the state. */
  readonly elements: Ordered<AllocationId>;
  /** Allocations and groups that wait for this end. */
  dependents(ref: string): Ordered<AllocationId>;
  /** Groups whose elements wait for the elements of this one. */
  counterparts(group: AllocationId): Ordered<AllocationId>;
  /** Whether other work may wait for single elements of this group. */
  elementsAwaited(group: AllocationId): boolean;
  lock(key: string): Lock | undefined;
  locks(): Iterable<readonly [string, Lock]>;
  pendingElements(group: AllocationId): number;
  /** Pending elements without a hold. */
  windowElements(group: AllocationId): number;
  /** Suspended until a user resumes them. */
  restingElements(group: AllocationId): number;
  /** Positions whose counterparts are met and which have no record yet. */
  ready(group: AllocationId): Ordered<number>;
  allocationReplaced(before: Allocation | undefined, after: Allocation | undefined): void;
  groupReplaced(before: TaskGroup | undefined, after: TaskGroup | undefined): void;
  marksReplaced(before: MarkChunk | undefined, after: MarkChunk | undefined): void;
}

const NO_EDGES: readonly Dependency[] = [];
const NONE: readonly number[] = [];
const NO_WAITERS = createOrdered<AllocationId>(compareAllocationIds);

export function createFlows(): Flows {
  const blocked = createOrdered(compareAllocationIds);
  const dependents = new Map<string, Ordered<AllocationId>>();
  const counterparts = new Map<string, Ordered<AllocationId>>();
  const mutexes = createMutexIndex();
  const elements = createElementIndex();
  /** Dependencies on single elements of any group. */
  let awaitedElements = 0;

  function waitersReplaced(before: Waiter | undefined, after: Waiter | undefined): void {
    const was = openEdges(before);
    const is = openEdges(after);
    if (was === is) return;
    const id = (after ?? before)?.id;
    if (id === undefined) return;
    const dropped = new Set<string>();
    const refs = new Set(is.map((n) => after?.spec.dependsOn?.[n]?.ref ?? ""));
    for (const n of was) {
      const ref = before?.spec.dependsOn?.[n]?.ref ?? "";
      if (refs.has(ref)) continue;
      drop(dependents, ref, id);
      dropped.add(ref);
    }
    awaitedElements -= elementRefs(dropped);
    if (was.length > 0) return;
    awaitedElements += elementRefs(refs);
    for (const ref of refs) put(dependents, ref, id);
  }

  return {
    blocked,
    elements: elements.records,
    dependents: (ref) => dependents.get(ref) ?? NO_WAITERS,
    counterparts: (group) => counterparts.get(group) ?? NO_WAITERS,
    elementsAwaited: (group) => awaitedElements > 0 || counterparts.has(group),
    lock: mutexes.lock,
    locks: mutexes.locks,
    pendingElements: elements.pending,
    restingElements: elements.suspended,
    windowElements: elements.startable,
    ready: elements.ready,
    allocationReplaced(before, after) {
      elements.allocationReplaced(before, after);
      if ((before ?? after)?.spec.dependsOn === undefined) return;
      const id = (after ?? before)?.id;
      if (id === undefined) return;
      if (isBlocked(after)) blocked.add(id);
      else if (isBlocked(before)) blocked.delete(id);
      waitersReplaced(isBlocked(before) ? before : undefined, isBlocked(after) ? after : undefined);
      mutexes.allocationReplaced(before, after);
    },
    groupReplaced(before, after) {
      const id = (after ?? before)?.id;
      if (id === undefined) return;
      waitersReplaced(openGroup(before), openGroup(after));
      const was = openGroup(before) !== undefined;
      const is = openGroup(after) !== undefined;
      for (const ref of counterpartRefs(after ?? before)) {
        if (is && !was) put(counterparts, ref, id);
        if (was && !is) drop(counterparts, ref, id);
      }
      if (was && !is) elements.groupEnded(id);
    },
    marksReplaced: elements.marksReplaced,
  };
}

/** The dependency part of an allocation or a group. */
type Waiter = Pick<Allocation, "id" | "spec" | "unmet">;

const isBlocked = (record: Allocation | undefined): boolean =>
  record !== undefined && record.unmet.length > 0 && record.phase.kind === "pending";

const openGroup = (group: TaskGroup | undefined): TaskGroup | undefined =>
  group === undefined || hasGroupEnded(group.phase) ? undefined : group;

/** Edges that wait for an end, as positions in the spec. */
function openEdges(waiter: Waiter | undefined): readonly number[] {
  const edges = waiter?.spec.dependsOn ?? NO_EDGES;
  const open = waiter?.unmet.filter((n) => edges[n]?.condition !== "mutex") ?? NONE;
  return open.length === 0 ? NONE : open;
}

const elementRefs = (refs: ReadonlySet<string>): number => {
  let count = 0;
  for (const ref of refs) if (ref.includes("_")) count += 1;
  return count;
};

/** Each once. */
export function counterpartRefs(group: TaskGroup | undefined): readonly string[] {
  if (group === undefined || group.counterparts.length === 0) return [];
  return [...new Set(group.counterparts.map((n) => group.spec.dependsOn?.[n]?.ref ?? ""))];
}

function put(index: Map<string, Ordered<AllocationId>>, key: string, id: AllocationId): void {
  const known = index.get(key);
  if (known !== undefined) known.add(id);
  else {
    const fresh = createOrdered(compareAllocationIds);
    fresh.add(id);
    index.set(key, fresh);
  }
}

function drop(index: Map<string, Ordered<AllocationId>>, key: string, id: AllocationId): void {
  const known = index.get(key);
  known?.delete(id);
  if (known?.size === 0) index.delete(key);
}
