// The snapshots of one vCluster, maintained across cycles: nodes, releases, pending allocations and tenants, updated by
// the changes since the last one. A cycle per event then costs what the event changed, not the size of the cluster.
// Another view, too many changes, or added and removed nodes lead to a build from scratch.

import type { Changes, Instant, TenantId, VCluster, VClusterId, View } from "@lattice/core";
import type { CycleCache } from "../input/cycle-cache.ts";
import type { CycleInput, ReleaseInput, TenantInput } from "../input/cycle-input.ts";
import { createIncrementalNodes, type IncrementalNodes } from "./incremental-nodes.ts";
import { createIncrementalQueue, type IncrementalQueue } from "./incremental-queue.ts";
import { alwaysReachable, hasBudget, type IsReachable, releasing, tenantInput, usageBasis } from "./records.ts";

interface IncrementalSnapshot {
  readonly vcluster: VClusterId;
  readonly changes: Changes;
  /** How many of these changes are included. */
  seen: number;
  readonly nodes: IncrementalNodes;
  readonly queue: IncrementalQueue;
  tenants: IncrementalTenants;
}

interface SnapshotRequest {
  readonly view: View;
  readonly vcluster: VCluster;
  readonly now: Instant;
  readonly reachable: IsReachable;
  readonly budgetDays: number;
  /** The decision of the cycle is snapshot beyond the next change. */
  readonly isRecorded: boolean;
}

export function updateSnapshot(
  cache: CycleCache,
  now: SnapshotRequest,
): Pick<CycleInput, "nodes" | "releases" | "pending" | "tenants" | "prepared"> {
  const snapshot = catchUp(snapshotByCache.get(cache), now) ?? buildSnapshot(now);
  snapshotByCache.set(cache, snapshot);
  snapshot.nodes.updateReachability(now.reachable === alwaysReachable ? null : now.reachable);
  const { nodes, queue } = snapshot;
  const { inputs: tenants } = snapshot.tenants;
  return {
    nodes: nodes.inputs(now.isRecorded),
    // A list that is not read after the next change need not be copied.
    releases:
      now.isRecorded || nodes.leaving.size > 0 ? leavingReleases(nodes, now).concat(queue.releases) : queue.releases,
    pending: queue.pending(now.isRecorded),
    tenants: now.isRecorded ? tenants.slice() : tenants,
    prepared: {
      free: nodes.free,
      releasedAt: nodes.releasedAt,
      releaseTally: nodes.releaseTally,
      tenantById: snapshot.tenants.byId,
      jobCache: queue.jobCache,
    },
  };
}

const snapshotByCache = new WeakMap<CycleCache, IncrementalSnapshot>();

/** Returns `null` when the snapshot must be built from scratch. */
function catchUp(snapshot: IncrementalSnapshot | undefined, now: SnapshotRequest): IncrementalSnapshot | null {
  const { view } = now;
  if (snapshot === undefined || snapshot.changes !== view.changes || snapshot.vcluster !== now.vcluster.id) return null;
  const { count } = view.changes;
  const changed = snapshot.seen === count ? NOTHING : view.changes.since(snapshot.seen);
  if (changed === null) return null;
  snapshot.seen = count;
  for (const id of changed.allocations) {
    const moved = snapshot.queue.update(id, view.allocation(id));
    if (moved.length > 0) snapshot.nodes.updateReleases(moved, view);
  }
  if (!snapshot.nodes.update(changed.nodes, view)) return null;
  const moment = tenantMoment(now, snapshot.queue);
  if (!updateTenants(snapshot.tenants, changed.tenants, moment)) snapshot.tenants = createTenants(moment);
  return snapshot;
}

const NOTHING = { nodes: [], allocations: new Set<never>(), tenants: new Set<never>() };

function buildSnapshot(now: SnapshotRequest): IncrementalSnapshot {
  const { view, vcluster } = now;
  const queue = createIncrementalQueue(view, vcluster.id);
  return {
    vcluster: vcluster.id,
    changes: view.changes,
    seen: view.changes.count,
    nodes: createIncrementalNodes(view, vcluster.id),
    queue,
    tenants: createTenants(tenantMoment(now, queue)),
  };
}

const tenantMoment = (
  { view, vcluster: { weights }, now, budgetDays }: SnapshotRequest,
  { waiting }: IncrementalQueue,
): TenantMoment => ({
  view,
  weights,
  now,
  budgetDays,
  waiting,
});

function leavingReleases(nodes: IncrementalNodes, { view, now }: SnapshotRequest): ReleaseInput[] {
  const releases: ReleaseInput[] = [];
  for (const id of nodes.leaving) {
    const node = view.node(id);
    const release = node === undefined ? null : releasing(node, now);
    if (release !== null) releases.push(release);
  }
  return releases;
}

interface IncrementalTenants {
  readonly inputs: TenantInput[];
  readonly byId: Map<string, TenantInput>;
  readonly indexOf: ReadonlyMap<TenantId, number>;
  readonly budgeted: ReadonlySet<TenantId>;
  /** Tenants whose share of the recent use is set. */
  readonly withShare: Set<TenantId>;
}

interface TenantMoment {
  readonly view: View;
  readonly weights: VCluster["weights"];
  readonly now: Instant;
  readonly budgetDays: number;
  /** Tenants with pending allocations. */
  readonly waiting: ReadonlyMap<TenantId, number>;
}

function createTenants({ view, weights, now, budgetDays, waiting }: TenantMoment): IncrementalTenants {
  const records = [...view.tenants()];
  const reckoning = usageBasis(view, { weights, now, days: budgetDays, tenants: records.length });
  const inputs = records.map((record) => tenantInput(view, record, waiting.has(record.id), reckoning));
  return {
    inputs,
    byId: new Map(inputs.map((input) => [input.id, input])),
    indexOf: new Map(records.map(({ id }, at) => [id, at])),
    budgeted: new Set(records.filter(hasBudget).map(({ id }) => id)),
    withShare: new Set(reckoning.all === 0 ? [] : waiting.keys()),
  };
}

/** Returns false when the tenants must be built from scratch. */
function updateTenants(tenants: IncrementalTenants, changed: ReadonlySet<TenantId>, moment: TenantMoment): boolean {
  const { view, weights, now, budgetDays, waiting } = moment;
  const reckoning = usageBasis(view, { weights, now, days: budgetDays, tenants: tenants.inputs.length });
  const renew = (id: TenantId): boolean => {
    const record = view.tenant(id);
    const at = tenants.indexOf.get(id);
    if (record === undefined || at === undefined || hasBudget(record) !== tenants.budgeted.has(id)) return false;
    const input = tenantInput(view, record, waiting.has(id), reckoning);
    tenants.inputs[at] = input;
    tenants.byId.set(id, input);
    return true;
  };
  for (const id of changed) if (!renew(id)) return false;
  for (const id of tenants.budgeted) if (!changed.has(id)) renew(id);
  for (const id of tenants.withShare) {
    if (reckoning.all > 0 && waiting.has(id)) continue;
    tenants.withShare.delete(id);
    if (!changed.has(id)) renew(id);
  }
  if (reckoning.all === 0) return true;
  for (const id of waiting.keys()) {
    tenants.withShare.add(id);
    if (!changed.has(id)) renew(id);
  }
  return true;
}
