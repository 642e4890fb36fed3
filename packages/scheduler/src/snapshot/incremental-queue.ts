// The pending allocations of a vCluster and the releases of all placed ones, maintained across cycles. Pending
// allocations are sorted by id; an input stays the same object while its record does, so that jobs derived from it stay
// valid.

import {
  type Allocation,
  type AllocationId,
  isQueued,
  type NodeId,
  type TenantId,
  type VClusterId,
  type View,
} from "@lattice/core";
import type { JobCache, PendingInput, ReleaseInput } from "../input/cycle-input.ts";
import { indexById } from "../input/pending-order.ts";
import { pendingInput, releaseOf } from "./records.ts";

export interface IncrementalQueue {
  /** Returns the pending allocations; `isRecorded`: the list never changes, and a change makes another. */
  pending(isRecorded: boolean): readonly PendingInput[];
  /** By index in that list. */
  readonly jobCache: JobCache;
  /** In no particular order. */
  readonly releases: readonly ReleaseInput[];
  /** Tenants with pending allocations, and how many. */
  readonly waiting: ReadonlyMap<TenantId, number>;
  /** Returns the nodes whose release may have changed, though nothing else about them has. */
  update(id: AllocationId, record: Allocation | undefined): readonly NodeId[];
}

export function createIncrementalQueue(view: View, vcluster: VClusterId): IncrementalQueue {
  let pending = Array.from(view.pending(vcluster), (record) => pendingInput(record, null));
  const jobCache: JobCache = { builtFor: null, jobs: [] };
  /** A recorded cycle keeps the list, so a change must copy it. */
  let isShared = false;
  const waiting = new Map<TenantId, number>();
  const count = (tenant: TenantId, change: 1 | -1): void => {
    const left = (waiting.get(tenant) ?? 0) + change;
    if (left === 0) waiting.delete(tenant);
    else waiting.set(tenant, left);
  };
  for (const { tenant } of pending) count(tenant, 1);
  const releases: ReleaseInput[] = [];
  const releaseAt = new Map<AllocationId, number>();

  function putRelease(release: ReleaseInput): void {
    const at = releaseAt.get(release.allocation) ?? releases.length;
    releases[at] = release;
    releaseAt.set(release.allocation, at);
  }
  function dropRelease(id: AllocationId): void {
    const at = releaseAt.get(id);
    const last = at === undefined ? undefined : releases.pop();
    if (at === undefined || last === undefined) return;
    releaseAt.delete(id);
    if (at === releases.length) return;
    releases[at] = last;
    releaseAt.set(last.allocation, at);
  }
  for (const allocation of view.placed()) {
    const release = releaseOf(allocation);
    if (release !== null) putRelease(release);
  }

  return {
    pending(isRecorded) {
      isShared = isShared || isRecorded;
      return pending;
    },
    jobCache,
    releases,
    waiting,
    update(id, record) {
      const waits = record !== undefined && isQueued(record) && record.spec.vcluster === vcluster;
      const at = indexById(pending, id);
      const known = pending[at]?.id === id ? 1 : 0;
      if (known === 1) count((pending[at] as PendingInput).tenant, -1);
      if (isShared && (waits || known === 1)) {
        pending = pending.slice();
        isShared = false;
      }
      if (waits) {
        pending.splice(at, known, pendingInput(record, null));
        jobCache.jobs.splice(at, known, undefined);
        count(record.spec.tenant, 1);
      } else if (known === 1) {
        pending.splice(at, 1);
        jobCache.jobs.splice(at, 1);
      }
      const release = record === undefined ? null : releaseOf(record);
      if (release === null) {
        dropRelease(id);
        return NONE;
      }
      const before = releases[releaseAt.get(id) ?? -1];
      putRelease(release);
      // A placement has claimed its nodes, which are updated for that.
      if (before === undefined) return NONE;
      return before.endsAt === release.endsAt && before.nodes === release.nodes ? NONE : release.nodes;
    },
  };
}

const NONE: readonly NodeId[] = [];
