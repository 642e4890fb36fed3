// The mutexes of tenants: which allocation holds each name, and which allocations wait for it. Derived from the records,
// neither hashed nor stored.

import { compareAllocationIds } from "../base/id-order.ts";
import type { AllocationId, TenantId } from "../base/ids.ts";
import { createOrdered, type Ordered } from "../base/ordered.ts";
import type { Allocation } from "../model/allocation/allocation.ts";
import { isFinal } from "../model/allocation/phase.ts";
import { mutexEdges } from "../model/spec/dependency.ts";

/** A name that one allocation of a tenant may hold at a time. */
export interface Lock {
  holder: AllocationId | null;
  /** Allocations that wait for this name and at most for later ones. */
  readonly waiting: Ordered<AllocationId>;
}

/** A tenant's id holds no space, so the key is unambiguous. */
export const lockKey = (tenant: TenantId, name: string): string => `${tenant} ${name}`;

interface MutexIndex {
  lock(key: string): Lock | undefined;
  locks(): Iterable<readonly [string, Lock]>;
  allocationReplaced(before: Allocation | undefined, after: Allocation | undefined): void;
}

export function createMutexIndex(): MutexIndex {
  const locks = new Map<string, Lock>();

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

  function allocationReplaced(before: Allocation | undefined, after: Allocation | undefined): void {
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

  return { lock: (key) => locks.get(key), locks: () => locks, allocationReplaced };
}

interface Names {
  readonly held: readonly string[];
  /** The next to be taken, once everything else is met. */
  readonly wanted: string | null;
}

const NO_NAMES: Names = { held: [], wanted: null };

/** The record determines the names: an allocation holds the met ones and wants the others. */
export function namesOf(record: Allocation | undefined): Names {
  const edges = record?.spec.dependsOn;
  if (record === undefined || edges === undefined || isFinal(record.phase)) return NO_NAMES;
  if (!edges.some((edge) => edge.condition === "mutex")) return NO_NAMES;
  const { unmet } = record;
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
    // An allocation on hold takes no name from others.
    wanted: free && next !== undefined && record.hold === undefined ? key(next) : null,
  };
}
