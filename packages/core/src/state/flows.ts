// Who waits for whom, read off the records and kept up to date at every replacement: blocked
// allocations, the dependents of each end, holders of names and those who want them, and what each task
// group has in the queue. Nothing here is hashed or stored; a restored state builds it again.

import type { Allocation } from "../allocation/allocation.ts";
import { type Dependency, mutexEdges } from "../allocation/dependency.ts";
import { compareAllocationIds } from "../allocation/order.ts";
import { isFinal } from "../allocation/phase.ts";
import { hasGroupEnded, type TaskGroup } from "../group/group.ts";
import { CHUNK_SIZE, type MarkChunk, READY } from "../group/marks.ts";
import type { AllocationId, TenantId } from "../ids.ts";
import { createOrdered, type Ordered } from "./ordered.ts";

/** A name that one allocation of a tenant may hold at a time. */
export interface Lock {
  holder: AllocationId | null;
  /** Those for whom nothing else, or only later names, is left to wait for. */
  readonly waiting: Ordered<AllocationId>;
}

export interface Flows {
  /** Pending, with dependencies that are not met. */
  readonly blocked: Ordered<AllocationId>;
  /** Records of elements that are in the state. */
  readonly elements: Ordered<AllocationId>;
  /** Allocations and groups that wait for this end. */
  dependents(ref: string): Ordered<AllocationId>;
  /** Groups whose elements wait for the elements of this one. */
  counterparts(group: AllocationId): Ordered<AllocationId>;
  /** Whether anybody may wait for single elements of this group. */
  elementsAwaited(group: AllocationId): boolean;
  lock(key: string): Lock | undefined;
  locks(): Iterable<readonly [string, Lock]>;
  pendingElements(group: AllocationId): number;
  /** Those of them that nobody holds. */
  windowElements(group: AllocationId): number;
  /** Suspended until somebody resumes them. */
  restingElements(group: AllocationId): number;
  /** Positions whose counterparts are met and which have not been made. */
  ready(group: AllocationId): Ordered<number>;
  allocationReplaced(before: Allocation | undefined, after: Allocation | undefined): void;
  groupReplaced(before: TaskGroup | undefined, after: TaskGroup | undefined): void;
  marksReplaced(before: MarkChunk | undefined, after: MarkChunk | undefined): void;
}

/** A tenant's id holds no space, so the key is unambiguous. */
export const lockKey = (tenant: TenantId, name: string): string => `${tenant} ${name}`;

const NO_EDGES: readonly Dependency[] = [];
const NONE: readonly number[] = [];
const NOBODY = createOrdered<AllocationId>(compareAllocationIds);
const NOTHING_READY = createOrdered<number>((a, b) => a - b);

export function createFlows(): Flows {
  const blocked = createOrdered(compareAllocationIds);
  const elements = createOrdered(compareAllocationIds);
  const dependents = new Map<string, Ordered<AllocationId>>();
  const counterparts = new Map<string, Ordered<AllocationId>>();
  const locks = new Map<string, Lock>();
  const pendingElements = new Map<AllocationId, number>();
  const restingElements = new Map<AllocationId, number>();
  const heldElements = new Map<AllocationId, number>();
  const ready = new Map<AllocationId, Ordered<number>>();
  /** Waits of anybody for single elements of any group. */
  let awaitedElements = 0;

  function lockOf(key: string): Lock {
    const known = locks.get(key);
    if (known !== undefined) return known;
    const fresh: Lock = { holder: null, waiting: createOrdered(compareAllocationIds) };
    locks.set(key, fresh);
    return fresh;
  }

  function leave(key: string, id: AllocationId): void {
    const lock = lockOf(key);
    if (lock.holder === id) lock.holder = null;
    lock.waiting.delete(id);
    if (lock.holder === null && lock.waiting.size === 0) locks.delete(key);
  }

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

  function locksReplaced(before: Allocation | undefined, after: Allocation | undefined): void {
    const was = namesOf(before);
    const is = namesOf(after);
    if (was === NO_NAMES && is === NO_NAMES) return;
    const id = (after ?? before)?.id;
    if (id === undefined) return;
    for (const key of was.held) if (!is.held.includes(key)) leave(key, id);
    if (was.wanted !== null && was.wanted !== is.wanted) lockOf(was.wanted).waiting.delete(id);
    for (const key of is.held) lockOf(key).holder = id;
    if (is.wanted !== null) lockOf(is.wanted).waiting.add(id);
    if (was.wanted !== null) leaveIfEmpty(was.wanted);
  }

  function leaveIfEmpty(key: string): void {
    const lock = locks.get(key);
    if (lock !== undefined && lock.holder === null && lock.waiting.size === 0) locks.delete(key);
  }

  function elementReplaced(before: Allocation | undefined, after: Allocation | undefined): void {
    const element = after?.element ?? before?.element;
    const id = (after ?? before)?.id;
    if (element === undefined || id === undefined) return;
    if (before === undefined) elements.add(id);
    if (after === undefined) elements.delete(id);
    countIn(pendingElements, element.group, Number(isPending(after)) - Number(isPending(before)));
    countIn(heldElements, element.group, Number(after?.hold !== undefined) - Number(before?.hold !== undefined));
    countIn(restingElements, element.group, Number(isResting(after)) - Number(isResting(before)));
  }

  return {
    blocked,
    elements,
    dependents: (ref) => dependents.get(ref) ?? NOBODY,
    counterparts: (group) => counterparts.get(group) ?? NOBODY,
    elementsAwaited: (group) => awaitedElements > 0 || counterparts.has(group),
    lock: (key) => locks.get(key),
    locks: () => locks,
    pendingElements: (group) => pendingElements.get(group) ?? 0,
    restingElements: (group) => restingElements.get(group) ?? 0,
    windowElements: (group) => (pendingElements.get(group) ?? 0) - (heldElements.get(group) ?? 0),
    ready: (group) => ready.get(group) ?? NOTHING_READY,
    allocationReplaced(before, after) {
      elementReplaced(before, after);
      if ((before ?? after)?.spec.dependsOn === undefined) return;
      const id = (after ?? before)?.id;
      if (id === undefined) return;
      if (isBlocked(after)) blocked.add(id);
      else if (isBlocked(before)) blocked.delete(id);
      waitersReplaced(isBlocked(before) ? before : undefined, isBlocked(after) ? after : undefined);
      locksReplaced(before, after);
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
      if (was && !is) ready.delete(id);
    },
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
  };

  function readyOf(group: AllocationId): Ordered<number> {
    const known = ready.get(group);
    if (known !== undefined) return known;
    const fresh = createOrdered<number>((a, b) => a - b);
    ready.set(group, fresh);
    return fresh;
  }
}

const isPending = (record: Allocation | undefined): boolean => record?.phase.kind === "pending";

function countIn(counts: Map<AllocationId, number>, group: AllocationId, change: number): void {
  if (change === 0) return;
  const count = (counts.get(group) ?? 0) + change;
  if (count === 0) counts.delete(group);
  else counts.set(group, count);
}

/** An allocation or a group, as far as waiting goes. */
type Waiter = Pick<Allocation, "id" | "spec" | "unmet">;

export const isBlocked = (record: Allocation | undefined): boolean =>
  record?.unmet !== undefined && record.phase.kind === "pending";

/** Those that are suspended for another cause are queued again by themselves. */
export const isResting = (record: Allocation | undefined): boolean =>
  record?.phase.kind === "suspended" && record.phase.cause === "walltime";

const openGroup = (group: TaskGroup | undefined): TaskGroup | undefined =>
  group === undefined || hasGroupEnded(group.phase) ? undefined : group;

/** Edges that wait for an end, as places in the spec. */
function openEdges(waiter: Waiter | undefined): readonly number[] {
  const edges = waiter?.spec.dependsOn ?? NO_EDGES;
  const open = waiter?.unmet?.filter((n) => edges[n]?.condition !== "mutex") ?? NONE;
  return open.length === 0 ? NONE : open;
}

const elementRefs = (refs: ReadonlySet<string>): number => {
  let count = 0;
  for (const ref of refs) if (ref.includes("_")) count += 1;
  return count;
};

/** Each once. */
export function counterpartRefs(group: TaskGroup | undefined): readonly string[] {
  if (group?.counterparts === undefined) return [];
  return [...new Set(group.counterparts.map((n) => group.spec.dependsOn?.[n]?.ref ?? ""))];
}

interface Names {
  readonly held: readonly string[];
  /** The next to be taken, once everything else is met. */
  readonly wanted: string | null;
}

const NO_NAMES: Names = { held: [], wanted: null };

/** What an allocation holds and wants follows from its record: what is met of its names, it holds. */
export function namesOf(record: Allocation | undefined): Names {
  const edges = record?.spec.dependsOn;
  if (record === undefined || edges === undefined || isFinal(record.phase)) return NO_NAMES;
  if (!edges.some((edge) => edge.condition === "mutex")) return NO_NAMES;
  const unmet = record.unmet ?? NONE;
  const key = (n: number): string => lockKey(record.spec.tenant, edges[n]?.ref ?? "");
  const all = mutexEdges(
    edges,
    edges.map((_, n) => n),
  );
  const left = mutexEdges(edges, unmet);
  const [next] = left;
  const free = left.length === unmet.length;
  return {
    held: all.filter((n) => !unmet.includes(n)).map(key),
    // Who is held takes no name from others.
    wanted: free && next !== undefined && record.hold === undefined ? key(next) : null,
  };
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
