// Elements behind elements: short elements of a task group wait on the nodes that their group is about to get or has
// already, so that each starts as soon as the one in front has ended. It follows a cycle and takes what that has left
// over. No reserved start is delayed: a node that other work has a reservation on gets no more elements. Nodes with
// running elements get more only while nothing else waits, so every other wait ends after a moment.

import {
  type Allocation,
  type AllocationId,
  attempt,
  behindRefusal,
  between,
  depthBehind,
  duration,
  elementOf,
  type Instant,
  mayWaitBehind,
  type Node,
  type NodeId,
  type Placement,
  policyOf,
  type TaskGroup,
  type VCluster,
  type View,
} from "@lattice/core";
import type { CycleResult, ForeignReservation } from "../input/cycle-input.ts";
import { alwaysReachable, type IsReachable } from "../snapshot/records.ts";

/** Elements placed behind others after one cycle. */
const MOST = 512;

/** An element that has had its node for so long is not short, and its end is not expected soon. */
const LONGEST_TURN = duration(1_000);

interface Surroundings {
  readonly now: Instant;
  /** The newest reservations of other vClusters. */
  readonly foreignReservations: readonly ForeignReservation[];
  readonly isReachable?: IsReachable;
}

type Decided = Pick<CycleResult, "placements" | "preemptions" | "reservations">;

/** A node of the group, with the number of elements that will be on it. */
interface Line {
  readonly node: NodeId;
  count: number;
}

export function placementsBehind(
  view: View,
  vcluster: VCluster,
  decided: Decided,
  { now, foreignReservations, isReachable = alwaysReachable }: Surroundings,
): readonly Placement[] {
  const { preempts, sharesNodes, sensitive } = policyOf(vcluster);
  if (sharesNodes || sensitive || decided.preemptions.length > 0 || (preempts && hasAny(view.awaiting()))) return [];
  const waiting = waitingWork(view, vcluster, decided.placements);
  const reservations = [...decided.reservations, ...foreignReservations];
  const placements: Placement[] = [];
  for (const [id, elements] of waiting.groups) {
    const group = view.group(id);
    const depth = group === undefined ? 0 : depthBehind(group);
    if (group === undefined || depth === 0) continue;
    const others = reservations.filter(({ allocation }) => !isOfGroup(allocation, id));
    if (needsQuota(view, group, others)) continue;
    const kept = new Set(others.flatMap(({ nodes }) => nodes));
    const lines = startedLines(view, decided.placements, id);
    const isAlone = waiting.groups.size === 1 && !waiting.hasOthers && !waitsElsewhere(view, vcluster);
    const isQuick = ({ id: node, claims }: Node): boolean =>
      isReachable(node) && between(claims[0]?.since ?? now, now) < LONGEST_TURN;
    if (isAlone && elements[0] !== undefined) lines.push(...runningLines(view, elements[0], depth, isQuick));
    const open = lines.filter(({ node }) => !kept.has(node));
    const room = headroom(view, group, decided.placements.length + placements.length);
    placements.push(...fillLines(open, elements, Math.min(room, MOST - placements.length), depth + 1));
  }
  return placements;
}

interface WaitingWork {
  /** By group, in the order of the queue. */
  readonly groups: ReadonlyMap<AllocationId, readonly Allocation[]>;
  /** Work that cannot wait behind other work is pending. */
  readonly hasOthers: boolean;
}

/** The pending work that the cycle has left over. */
function waitingWork(view: View, { id }: VCluster, placements: readonly Placement[]): WaitingWork {
  const placed = new Set(placements.map(({ allocation }) => allocation));
  const groups = new Map<AllocationId, Allocation[]>();
  let hasOthers = false;
  for (const record of view.pending(id)) {
    if (placed.has(record.id)) continue;
    const group = record.element?.group;
    if (group === undefined || !mayWaitBehind(view, record)) {
      hasOthers = true;
      continue;
    }
    const elements = groups.get(group) ?? [];
    elements.push(record);
    groups.set(group, elements);
  }
  return { groups, hasOthers };
}

function waitsElsewhere(view: View, { id }: VCluster): boolean {
  for (const other of view.vclusters()) if (other.id !== id && view.pendingCount(other.id) > 0) return true;
  return false;
}

const isOfGroup = (id: AllocationId | undefined, group: AllocationId): boolean =>
  id !== undefined && elementOf(id)?.group === group;

/** Whether reserved starts of the same tenant count on the quota that elements in a line would keep in use. */
function needsQuota(
  view: View,
  { spec }: TaskGroup,
  others: readonly { readonly allocation?: AllocationId }[],
): boolean {
  const quota = view.tenant(spec.tenant)?.quota;
  if (quota === undefined || (quota.maxNodes === null && quota.maxConcurrentAllocations === null)) return false;
  return others.some(({ allocation }) => {
    const owner = allocation === undefined ? undefined : view.allocation(allocation);
    return owner === undefined || owner.spec.tenant === spec.tenant;
  });
}

/** Nodes on which the cycle starts an element of the group. */
function startedLines(view: View, placements: readonly Placement[], group: AllocationId): Line[] {
  const lines: Line[] = [];
  for (const { allocation, nodes, shared } of placements) {
    const record = view.allocation(allocation);
    const [node] = nodes;
    if (node === undefined || shared === true || record?.element?.group !== group) continue;
    if (mayWaitBehind(view, record)) lines.push({ node, count: 1 });
  }
  return lines;
}

/** Nodes with elements of the group, few of which are left. */
function runningLines(view: View, element: Allocation, depth: number, isQuick: (node: Node) => boolean): Line[] {
  const lines: Line[] = [];
  for (const node of view.nodes()) {
    const count = node.claims.length;
    if (count === 0 || count > depth / 2 + 1) continue;
    if (isQuick(node) && behindRefusal(view, element, node) === null) lines.push({ node: node.id, count });
  }
  return lines;
}

/** The quota of allocations that the tenant has left. */
function headroom(view: View, { spec }: TaskGroup, planned: number): number {
  const most = view.tenant(spec.tenant)?.quota.maxConcurrentAllocations ?? null;
  return most === null ? Number.POSITIVE_INFINITY : Math.max(0, most - view.usage(spec.tenant).running - planned);
}

/** One element for each node in turn, so that the earlier ones start first. */
function fillLines(lines: readonly Line[], elements: readonly Allocation[], most: number, length: number): Placement[] {
  const placements: Placement[] = [];
  let next = 0;
  for (let level = 1; level < length; level += 1) {
    for (const line of lines) {
      const record = elements[next];
      if (record === undefined || placements.length >= most) return placements;
      if (line.count !== level) continue;
      line.count += 1;
      next += 1;
      if (!record.excludedNodes.includes(line.node)) placements.push(placementBehind(record, line.node));
    }
  }
  return placements;
}

const placementBehind = ({ id, attempt: last }: Allocation, node: NodeId): Placement => ({
  allocation: id,
  attempt: attempt(last + 1),
  nodes: [node],
  scores: {},
  backfilled: false,
  behind: true,
});

function hasAny(items: Iterable<unknown>): boolean {
  for (const _one of items) return true;
  return false;
}

/** Whether a vCluster without free nodes may have elements to place behind others. */
export function mayPlaceBehind(view: View, vcluster: VCluster): boolean {
  for (const record of view.pending(vcluster.id)) {
    const group = record.element === undefined ? undefined : view.group(record.element.group);
    return group !== undefined && depthBehind(group) > 0 && mayWaitBehind(view, record);
  }
  return false;
}
