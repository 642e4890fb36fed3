// The invariants after every entry, without counting everything again each time: what an entry
// changed is looked at, with everything whose rule speaks of it (the nodes of an allocation, the
// allocations of a node, who waits for what has ended), and the lists are held against what the records
// say. It goes by the records that it saw last, so it may look as seldom as its owner likes. What changes
// no record at all is not seen here: `brokenInvariants` counts everything, and is to be asked now and then.

import { compareAllocationIds } from "../../src/base/id-order.ts";
import type { AllocationId, DagId, NodeId } from "../../src/base/ids.ts";
import type { Allocation } from "../../src/model/allocation/allocation.ts";
import { isFinal } from "../../src/model/allocation/phase.ts";
import type { Dag } from "../../src/model/dag/dag.ts";
import type { TaskGroup } from "../../src/model/group/group.ts";
import { chargedSince } from "../../src/model/ledger/current-use.ts";
import { dayOf } from "../../src/model/ledger/day.ts";
import type { Node } from "../../src/model/node/node.ts";
import type { Changed } from "../../src/state/changes.ts";
import type { View } from "../../src/state/view.ts";
import { brokenAccess } from "./access.ts";
import { brokenAllocation } from "./allocation.ts";
import { brokenDefaults, brokenInvariants } from "./broken-invariants.ts";
import { brokenDag, brokenGroup, brokenNames, brokenWait } from "./flow.ts";
import { brokenLedger } from "./ledger.ts";
import { brokenLists, brokenNodeSums, emptyLists, type Lists, relist } from "./lists.ts";
import { brokenNode } from "./node.ts";

/** Answers what does not hold, of everything that the changes since the last call could have broken. */
export function watchInvariants(view: View): () => string[] {
  let seen: Seen | null = null;
  let count = 0;
  return () => {
    const changed = seen === null ? null : view.changes.since(count);
    count = view.changes.count;
    // A removed record may have had any owner.
    if (seen !== null && changed !== null && !ownerWent(view, seen)) return brokenSince(view, seen, changed);
    seen = lookAtAll(view);
    return brokenInvariants(view);
  };
}

/** The records as they were at the last look. */
interface Seen {
  readonly nodes: Map<NodeId, Node>;
  readonly allocations: Map<AllocationId, Allocation>;
  /** Nodes that an allocation has claims on. */
  readonly claimed: Map<AllocationId, Set<NodeId>>;
  readonly lists: Lists;
  /** Allocations that hold or want names. */
  readonly named: Set<AllocationId>;
  readonly groups: Map<AllocationId, TaskGroup>;
  readonly dags: Map<DagId, Dag>;
  readonly memberOf: Map<AllocationId, DagId>;
  owners: number;
  day: number;
  audit: ReturnType<View["lastAudit"]>;
}

/** Tenants and vClusters only ever come, but for the few that are removed. */
function ownerWent(view: View, seen: Seen): boolean {
  const before = seen.owners;
  seen.owners = ownersOf(view);
  return seen.owners < before;
}

function ownersOf(view: View): number {
  let count = 0;
  for (const _ of view.tenants()) count += 1;
  for (const _ of view.vclusters()) count += 1;
  return count;
}

function lookAtAll(view: View): Seen {
  const seen: Seen = {
    nodes: new Map(),
    allocations: new Map(),
    claimed: new Map(),
    lists: emptyLists(),
    named: new Set(),
    groups: new Map(),
    dags: new Map(),
    memberOf: new Map(),
    owners: ownersOf(view),
    day: dayOf(view.at),
    audit: view.lastAudit(),
  };
  for (const node of view.nodes()) takeNode(seen, node);
  for (const record of view.allocations()) take(seen, record.id, record);
  takeGroups(view, seen);
  takeDags(view, seen);
  return seen;
}

/** Values that an entry touched, beyond the records that it replaced. */
interface Touched {
  readonly nodes: Set<NodeId>;
  readonly allocations: Set<AllocationId>;
  readonly groups: Set<AllocationId>;
  readonly dags: Set<DagId>;
  cameOrWent: boolean;
  ended: boolean;
  names: boolean;
  runs: boolean;
}

function brokenSince(view: View, seen: Seen, changed: Changed): string[] {
  const touched: Touched = {
    nodes: new Set(changed.nodes),
    allocations: new Set(changed.allocations),
    groups: new Set(),
    dags: new Set(),
    cameOrWent: false,
    ended: false,
    names: false,
    runs: false,
  };
  for (const id of changed.nodes) touchNode(view, seen, touched, id);
  for (const id of changed.allocations) touchAllocation(view, seen, touched, id);
  for (const id of takeGroups(view, seen)) touchGroup(seen, touched, id);
  for (const id of takeDags(view, seen)) touched.dags.add(id);
  const broken = [...brokenLists(view, seen.lists), ...brokenDefaults(view)];
  const say = (sentences: readonly string[]): void => {
    for (const sentence of sentences) broken.push(sentence);
  };
  for (const id of touched.nodes) say(ofOne(view.node(id), (node) => brokenNode(view, node)));
  for (const id of touched.allocations) say(ofOne(view.allocation(id), (record) => brokenRecord(view, record)));
  if (changed.nodes.length + changed.tenants.size > 0) say(brokenNodeSums(view));
  if (touched.cameOrWent) say(brokenOrder(view));
  if (touched.ended) for (const record of view.blocked()) say(brokenWait(view, record));
  if (touched.names) say(brokenNames(withNames(view, seen)));
  say(brokenGroups(view, touched));
  for (const id of touched.dags) say(ofOne(view.dag(id), (dag) => brokenDag(view, dag)));
  if (newAudit(view, seen)) say(brokenAccess(view));
  if (touched.runs || newDay(view, seen)) say(brokenLedger(view));
  return broken;
}

const FINE: readonly string[] = [];

const ofOne = <T>(record: T | undefined, look: (record: T) => readonly string[]): readonly string[] =>
  record === undefined ? FINE : look(record);

function brokenRecord(view: View, record: Allocation): readonly string[] {
  const broken = brokenAllocation(view, record);
  return record.unmet.length === 0 ? broken : [...broken, ...brokenWait(view, record)];
}

function touchAllocation(view: View, seen: Seen, touched: Touched, id: AllocationId): void {
  const before = seen.allocations.get(id);
  const after = view.allocation(id);
  const named = seen.named.has(id);
  take(seen, id, after);
  for (const record of [before, after]) {
    if (record !== undefined && "nodes" in record.phase) for (const node of record.phase.nodes) touched.nodes.add(node);
  }
  for (const node of seen.claimed.get(id) ?? []) touched.nodes.add(node);
  if ((before === undefined) !== (after === undefined)) touched.cameOrWent = true;
  if (after === undefined || isFinal(after.phase)) touched.ended = true;
  if (named || seen.named.has(id)) touched.names = true;
  if (chargedSince(before) !== chargedSince(after)) touched.runs = true;
  const group = (after ?? before)?.element?.group;
  if (group !== undefined) touched.groups.add(group);
  touchDag(seen, touched, id);
}

function touchNode(view: View, seen: Seen, touched: Touched, id: NodeId): void {
  const before = seen.nodes.get(id);
  const after = view.node(id);
  if (after !== undefined) takeNode(seen, after);
  for (const node of [before, after]) for (const claim of node?.claims ?? []) touched.allocations.add(claim.allocation);
  // Claims of running work are counted in the capabilities of its nodes.
  if (before?.capabilities !== after?.capabilities) touched.runs = true;
}

function touchGroup(seen: Seen, touched: Touched, id: AllocationId): void {
  touched.groups.add(id);
  touched.ended = true;
  touchDag(seen, touched, id);
}

function touchDag(seen: Seen, touched: Touched, member: AllocationId): void {
  const dag = seen.memberOf.get(member);
  if (dag !== undefined) touched.dags.add(dag);
}

function takeNode({ nodes, claimed }: Seen, node: Node): void {
  for (const { allocation } of nodes.get(node.id)?.claims ?? []) {
    const held = claimed.get(allocation);
    held?.delete(node.id);
    if (held?.size === 0) claimed.delete(allocation);
  }
  for (const { allocation } of node.claims) {
    claimed.set(allocation, (claimed.get(allocation) ?? new Set()).add(node.id));
  }
  nodes.set(node.id, node);
}

function take(seen: Seen, id: AllocationId, after: Allocation | undefined): void {
  relist(seen.lists, seen.allocations.get(id), after);
  if (after === undefined) seen.allocations.delete(id);
  else seen.allocations.set(id, after);
  if (after?.spec.dependsOn?.some(({ condition }) => condition === "mutex") === true) seen.named.add(id);
  else seen.named.delete(id);
}

/** Returns the groups that are new, replaced or gone. */
function takeGroups(view: View, { groups }: Seen): readonly AllocationId[] {
  const changed: AllocationId[] = [];
  let present = 0;
  for (const group of view.groups()) {
    present += 1;
    if (groups.get(group.id) === group) continue;
    groups.set(group.id, group);
    changed.push(group.id);
  }
  if (present === groups.size) return changed;
  for (const id of groups.keys()) {
    if (view.group(id) !== undefined) continue;
    groups.delete(id);
    changed.push(id);
  }
  return changed;
}

function takeDags(view: View, { dags, memberOf }: Seen): readonly DagId[] {
  const changed: DagId[] = [];
  for (const dag of view.dags()) {
    if (dags.get(dag.id) === dag) continue;
    dags.set(dag.id, dag);
    changed.push(dag.id);
    for (const { id } of dag.members) memberOf.set(id, dag.id);
  }
  return changed;
}

function brokenOrder(view: View): string[] {
  const broken: string[] = [];
  let last: AllocationId | null = null;
  let count = 0;
  for (const { id } of view.allocations()) {
    if (last !== null && compareAllocationIds(last, id) >= 0) broken.push("allocations are not in order");
    last = id;
    count += 1;
  }
  if (count !== view.allocationCount) broken.push(`${count} allocations, counted ${view.allocationCount}`);
  return broken;
}

function* withNames(view: View, { named }: Seen): Iterable<Allocation> {
  for (const id of named) {
    const record = view.allocation(id);
    if (record !== undefined) yield record;
  }
}

/** Checks the touched groups and, when something has ended, the waiting ones. */
function brokenGroups(view: View, { groups, ended }: Touched): string[] {
  const broken: string[] = [];
  for (const group of view.groups()) {
    if (groups.has(group.id) || (ended && group.unmet.length > 0)) broken.push(...brokenGroup(view, group));
  }
  return broken;
}

function newAudit(view: View, seen: Seen): boolean {
  const last = view.lastAudit();
  const is = last !== seen.audit;
  seen.audit = last;
  return is;
}

function newDay(view: View, seen: Seen): boolean {
  const day = dayOf(view.at);
  const is = day !== seen.day;
  seen.day = day;
  return is;
}
