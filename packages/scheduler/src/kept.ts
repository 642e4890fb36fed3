// What snapshots of one vCluster keep from cycle to cycle: nodes, when each comes back, releases, pending
// allocations and tenants, brought up to date by what has changed since. A cycle per event then costs
// what the event changed, not what the cluster has. Whatever does not add up (another view, too many
// changes, nodes that came or went) is made anew.

import type { Changes, Instant, NodeId, VCluster, VClusterId, View } from "@lattice/core";
import type { CycleInput, ReleaseInput } from "./cycle-types.ts";
import { createKeptNodes, type KeptNodes } from "./kept-nodes.ts";
import { createKeptQueue, type KeptQueue } from "./kept-queue.ts";
import { type KeptTenants, keepTenants, type Moment, updateTenants } from "./kept-tenants.ts";
import type { Reuse } from "./machine/floor.ts";
import { everywhere, type Reachable, releasing } from "./snapshot-records.ts";

interface Kept {
  readonly vcluster: VClusterId;
  readonly changes: Changes;
  /** Of these changes, so many are in. */
  seen: number;
  readonly nodes: KeptNodes;
  readonly queue: KeptQueue;
  tenants: KeptTenants;
}

export interface Now {
  readonly view: View;
  readonly vcluster: VCluster;
  readonly now: Instant;
  readonly reachable: Reachable;
  readonly budgetDays: number;
  /** The cycle will be asked about after the next one has been. */
  readonly isKept: boolean;
}

export function bringUpToDate(
  reuse: Reuse,
  now: Now,
): Pick<CycleInput, "nodes" | "releases" | "pending" | "tenants" | "ground"> {
  const kept = catchUp(keptWith.get(reuse), now) ?? makeAnew(now);
  keptWith.set(reuse, kept);
  kept.nodes.lookAround(now.reachable === everywhere ? null : now.reachable);
  const { nodes, queue } = kept;
  const { inputs: tenants } = kept.tenants;
  return {
    nodes: nodes.inputs(now.isKept),
    // What nobody reads after the next change need not be copied.
    releases: now.isKept || nodes.leaving.size > 0 ? leaving(nodes, now).concat(queue.releases) : queue.releases,
    pending: queue.pending(now.isKept),
    tenants: now.isKept ? tenants.slice() : tenants,
    ground: {
      free: nodes.free,
      from: nodes.from,
      returning: nodes.returning,
      tenantById: kept.tenants.byId,
      jobs: queue.jobs,
    },
  };
}

const keptWith = new WeakMap<Reuse, Kept>();

/** Null when it must be made anew. */
function catchUp(kept: Kept | undefined, now: Now): Kept | null {
  const { view } = now;
  if (kept === undefined || kept.changes !== view.changes || kept.vcluster !== now.vcluster.id) return null;
  const { count } = view.changes;
  const changed = kept.seen === count ? NOTHING : view.changes.since(kept.seen);
  if (changed === null) return null;
  kept.seen = count;
  for (const id of changed.allocations) {
    const moved = kept.queue.update(id, view.allocation(id));
    if (moved.length > 0) kept.nodes.recount(moved, view);
  }
  if (!kept.nodes.update(changed.nodes, view)) return null;
  const moment = momentOf(now, kept.queue);
  if (!updateTenants(kept.tenants, changed.tenants, moment)) kept.tenants = keepTenants(moment);
  return kept;
}

const NOTHING = { nodes: [], allocations: new Set<never>(), tenants: new Set<never>() };

function makeAnew(now: Now): Kept {
  const { view, vcluster } = now;
  const queue = createKeptQueue(view, vcluster.id);
  return {
    vcluster: vcluster.id,
    changes: view.changes,
    seen: view.changes.count,
    nodes: createKeptNodes(view, vcluster.id),
    queue,
    tenants: keepTenants(momentOf(now, queue)),
  };
}

const momentOf = ({ view, vcluster: { weights }, now, budgetDays }: Now, { waiting }: KeptQueue): Moment => ({
  view,
  weights,
  now,
  budgetDays,
  waiting,
});

function leaving(nodes: KeptNodes, { view, now }: Now): ReleaseInput[] {
  const releases: ReleaseInput[] = [];
  for (const id of nodes.leaving as ReadonlySet<NodeId>) {
    const node = view.node(id);
    const release = node === undefined ? null : releasing(node, now);
    if (release !== null) releases.push(release);
  }
  return releases;
}
