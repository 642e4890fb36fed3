// Which list of the state each allocation belongs on, kept from what was seen of the records and held
// against the lists themselves when their members change: the same ones, in order, counted right; and what
// is read off them (classes, running work) and off the nodes (free, lent, held by a tenant) adds up.

import { byCodeUnits } from "../../src/base/canonical.ts";
import { compareAllocationIds } from "../../src/base/id-order.ts";
import type { AllocationId, TenantId, VClusterId } from "../../src/base/ids.ts";
import type { Allocation } from "../../src/model/allocation/allocation.ts";
import { isQueued } from "../../src/model/allocation/is-queued.ts";
import { isPlaced, type PhaseKind } from "../../src/model/allocation/phase.ts";
import { policyOf } from "../../src/model/vcluster/policy.ts";
import type { View } from "../../src/state/view.ts";

export interface Lists {
  readonly queued: Map<VClusterId, Set<AllocationId>>;
  readonly blocked: Set<AllocationId>;
  readonly awaiting: Set<AllocationId>;
  readonly placed: Set<AllocationId>;
  readonly phases: Map<PhaseKind, number>;
  /** Lists whose members have changed since they were last compared with the state's own. */
  readonly touched: Set<ReadonlySet<AllocationId>>;
}

export const emptyLists = (): Lists => ({
  queued: new Map(),
  blocked: new Set(),
  awaiting: new Set(),
  placed: new Set(),
  phases: new Map(),
  touched: new Set(),
});

export function relist(lists: Lists, before: Allocation | undefined, after: Allocation | undefined): void {
  const was = before === undefined ? NO_LISTS : listsOf(lists, before);
  const is = after === undefined ? NO_LISTS : listsOf(lists, after);
  if (before !== undefined) countPhase(lists, before.phase.kind, -1);
  if (after !== undefined) countPhase(lists, after.phase.kind, 1);
  const same = before?.spec.lifecycle.preemptionClass === after?.spec.lifecycle.preemptionClass;
  for (const list of was) {
    if (is.includes(list) && same) continue;
    if (before !== undefined) list.delete(before.id);
    lists.touched.add(list);
  }
  for (const list of is) {
    if (was.includes(list) && same) continue;
    if (after !== undefined) list.add(after.id);
    lists.touched.add(list);
  }
}

const countPhase = ({ phases }: Lists, kind: PhaseKind, change: 1 | -1): void =>
  void phases.set(kind, (phases.get(kind) ?? 0) + change);

const NO_LISTS: readonly Set<AllocationId>[] = [];

function listsOf(lists: Lists, record: Allocation): readonly Set<AllocationId>[] {
  const { phase, unmet, spec } = record;
  if (isPlaced(phase)) return [lists.placed];
  if (phase.kind !== "pending") return NO_LISTS;
  const waits = unmet.length > 0 ? [lists.blocked] : isQueued(record) ? [queueOf(lists, spec.vcluster)] : [];
  return phase.preemptedNodes === undefined ? waits : [...waits, lists.awaiting];
}

function queueOf({ queued }: Lists, vcluster: VClusterId): Set<AllocationId> {
  const known = queued.get(vcluster);
  if (known !== undefined) return known;
  const fresh = new Set<AllocationId>();
  queued.set(vcluster, fresh);
  return fresh;
}

/** A change that was reverted before the next look affects nothing, but shows in the count. */
const stirs = ({ touched }: Lists, members: ReadonlySet<AllocationId>, counted: number): boolean =>
  touched.has(members) || members.size !== counted;

/** Of the lists that were touched since the last call. */
export function brokenLists(view: View, lists: Lists): string[] {
  const { touched } = lists;
  const broken: string[] = [];
  for (const { id } of view.vclusters()) {
    const members = queueOf(lists, id);
    if (stirs(lists, members, view.pendingCount(id))) broken.push(...brokenQueue(view, id, members));
  }
  if (stirs(lists, lists.blocked, view.blockedCount) && !isListed(lists.blocked, view.blocked())) {
    broken.push("the blocked allocations differ from those with unmet dependencies");
  }
  // Never many.
  if (!isListed(lists.awaiting, view.awaiting())) {
    broken.push("the allocations that wait for freed nodes are not as listed");
  }
  if (stirs(lists, lists.placed, view.placedCount)) broken.push(...brokenPlaced(view, lists.placed));
  for (const [kind, count] of lists.phases) {
    if (view.phaseCount(kind) !== count) broken.push(`${count} ${kind}, counted ${view.phaseCount(kind)}`);
  }
  touched.clear();
  return broken;
}

function brokenQueue(view: View, id: VClusterId, members: ReadonlySet<AllocationId>): string[] {
  const broken: string[] = [];
  if (!isListed(members, view.pending(id))) broken.push(`the queue of ${id} differs from the pending allocations`);
  if (view.pendingCount(id) !== members.size) broken.push(`the queue of ${id} counts ${view.pendingCount(id)}`);
  let highest = -1;
  for (const record of view.pending(id)) highest = Math.max(highest, classOf(record));
  if (view.highestPendingClass(id) !== highest) broken.push(`the classes waiting in ${id} differ`);
  return broken;
}

function brokenPlaced(view: View, members: ReadonlySet<AllocationId>): string[] {
  const broken: string[] = [];
  if (!isListed(members, view.placed())) broken.push("the placed index differs from the phases");
  if (view.placedCount !== members.size) broken.push(`${members.size} placed, counted ${view.placedCount}`);
  let lowest = Number.POSITIVE_INFINITY;
  const running = new Map<TenantId, number>();
  for (const record of view.placed()) {
    lowest = Math.min(lowest, classOf(record));
    running.set(record.spec.tenant, (running.get(record.spec.tenant) ?? 0) + 1);
  }
  if (view.lowestPlacedClass !== lowest) broken.push(`the lowest class placed is ${lowest}`);
  for (const { id } of view.tenants()) {
    if (view.usage(id).running !== (running.get(id) ?? 0))
      broken.push(`tenant ${id} runs other allocations than counted`);
  }
  return broken;
}

const classOf = ({ spec }: Allocation): number => spec.lifecycle.preemptionClass;

/** The same members, each once, in order of id. */
function isListed(members: ReadonlySet<AllocationId>, listed: Iterable<Allocation>): boolean {
  let count = 0;
  let last: AllocationId | null = null;
  for (const { id } of listed) {
    if (!members.has(id) || (last !== null && compareAllocationIds(last, id) >= 0)) return false;
    last = id;
    count += 1;
  }
  return count === members.size;
}

/** One walk over the nodes: in order, free ones, those at home and lent, and whose they are. */
export function brokenNodeSums(view: View): string[] {
  const broken: string[] = [];
  const homes = new Map<VClusterId, { home: number; lent: string[] }>();
  const held = new Map<TenantId, number>();
  let last: string | null = null;
  let nodes = 0;
  let free = 0;
  for (const { id, state, claims, homeVCluster } of view.nodes()) {
    if (last !== null && byCodeUnits(last, id) >= 0) broken.push("nodes are not in order");
    last = id;
    nodes += 1;
    if (state.kind === "ready" && claims.length === 0) free += 1;
    for (const tenant of new Set(claims.map((claim) => claim.tenant))) held.set(tenant, (held.get(tenant) ?? 0) + 1);
    if (homeVCluster === null) continue;
    const counted = homes.get(homeVCluster) ?? { home: 0, lent: [] };
    homes.set(homeVCluster, counted);
    counted.home += 1;
    if (claims.some((claim) => claim.vcluster !== homeVCluster)) counted.lent.push(id);
  }
  if (nodes !== view.nodeCount) broken.push(`${nodes} nodes, counted ${view.nodeCount}`);
  if (free !== view.freeNodeCount) broken.push(`${free} free nodes, counted ${view.freeNodeCount}`);
  for (const { id } of view.tenants()) {
    if (view.usage(id).nodes !== (held.get(id) ?? 0)) broken.push(`tenant ${id} holds other nodes than counted`);
  }
  for (const vcluster of view.vclusters()) {
    const { home, lent } = homes.get(vcluster.id) ?? { home: 0, lent: [] };
    const counted = view.homeNodes(vcluster.id);
    if (counted.home !== home || counted.lent !== lent.length) broken.push(`the home nodes of ${vcluster.id} differ`);
    if (lent.length > 0 && policyOf(vcluster).sensitive) {
      broken.push(`${lent[0]} is lent by the sensitive vCluster ${vcluster.id}`);
    }
  }
  return broken;
}
