// The pending allocations of a vCluster and what placed ones of any give back, from cycle to cycle. Pending
// ones are in order of id; an input is the same one for as long as its record is, so that what was
// worked out about it can be kept too.

import {
  type Allocation,
  type AllocationId,
  isQueued,
  type NodeId,
  type TenantId,
  type VClusterId,
  type View,
} from "@lattice/core";
import type { KeptJobs, PendingInput, ReleaseInput } from "./cycle-types.ts";
import { placeOf } from "./order.ts";
import { pendingInput, releaseOf } from "./snapshot-records.ts";

export interface KeptQueue {
  /** `isKept`: the list stays as it is, and a change makes another. */
  pending(isKept: boolean): readonly PendingInput[];
  /** By place in that list. */
  readonly jobs: KeptJobs;
  /** In no order. */
  readonly releases: readonly ReleaseInput[];
  /** Who waits, and for how many. */
  readonly waiting: ReadonlyMap<TenantId, number>;
  /** Answers the nodes whose return may have changed with it, though nothing else about them has. */
  update(id: AllocationId, record: Allocation | undefined): readonly NodeId[];
}

export function createKeptQueue(view: View, vcluster: VClusterId): KeptQueue {
  let pending = Array.from(view.pending(vcluster), (record) => pendingInput(record, null));
  const jobs: KeptJobs = { of: null, list: [] };
  /** Handed out: not to be changed any more. */
  let isOut = false;
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
    pending(isKept) {
      isOut = isOut || isKept;
      return pending;
    },
    jobs,
    releases,
    waiting,
    update(id, record) {
      const waits = record !== undefined && isQueued(record) && record.spec.vcluster === vcluster;
      const at = placeOf(pending, id);
      const known = pending[at]?.id === id ? 1 : 0;
      if (known === 1) count((pending[at] as PendingInput).tenant, -1);
      if (isOut && (waits || known === 1)) {
        pending = pending.slice();
        isOut = false;
      }
      if (waits) {
        pending.splice(at, known, pendingInput(record, null));
        jobs.list.splice(at, known, undefined);
        count(record.spec.tenant, 1);
      } else if (known === 1) {
        pending.splice(at, 1);
        jobs.list.splice(at, 1);
      }
      const release = record === undefined ? null : releaseOf(record);
      if (release === null) {
        dropRelease(id);
        return NONE;
      }
      const before = releases[releaseAt.get(id) ?? -1];
      putRelease(release);
      // Who has just been placed has claimed its nodes, which are looked at for that.
      if (before === undefined) return NONE;
      return before.endsAt === release.endsAt && before.nodes === release.nodes ? NONE : release.nodes;
    },
  };
}

const NONE: readonly NodeId[] = [];
