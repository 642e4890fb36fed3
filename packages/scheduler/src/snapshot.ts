// Builds a cycle's input from the view: the vCluster's pending allocations, the nodes it may use, when
// busy ones are expected back, and what tenants use and may use. Reads only; takes the time as given.
// With something to reuse, what was made for the cycle before is brought up to date instead.

import {
  type AllocationId,
  type Instant,
  isSharedBy,
  LEDGER_DAYS,
  mayShare,
  type NodeId,
  policyOf,
  poolLeft,
  roomOf,
  type VCluster,
  type View,
} from "@lattice/core";
import type { CycleInput, NodeInput, ReleaseInput, RoomInput } from "./cycle-types.ts";
import { bringUpToDate } from "./kept.ts";
import { type Lenders, lendersTo } from "./lend/borrow.ts";
import { mayMakeRoom, preemptionInputs } from "./preempt/victims.ts";
import {
  everywhere,
  nodeInput,
  pendingInput,
  type Reachable,
  reckoningOf,
  releaseOf,
  releasing,
  tenantInput,
} from "./snapshot-records.ts";

export type { Reachable } from "./snapshot-records.ts";

/** What the leader knows beyond the view, and what it wants to be told. */
export interface Beyond
  extends Pick<CycleInput, "signals" | "previous" | "foreign" | "report" | "told" | "reuse" | "timed"> {
  /** A node that has not told its fingerprint for too long counts as one of unknown conformance. */
  readonly isStale?: (node: NodeId) => boolean;
  /** Days over which use counts towards budgets and shares; absent: all that the ledger keeps. */
  readonly budgetDays?: number;
}

/** With `reuse`, its ground is valid until the next snapshot that is given the same one. */
export function snapshotFor(
  view: View,
  vcluster: VCluster,
  now: Instant,
  reachable: Reachable = everywhere,
  beyond: Beyond = {},
): CycleInput {
  const { isStale, budgetDays = LEDGER_DAYS, reuse, report } = beyond;
  const lenders = lendersTo(view, vcluster);
  const policy = policyOf(vcluster);
  // What others lend changes with what they need, and stale nodes with time: nothing to keep.
  const { nodes, releases, pending, tenants, ground } =
    reuse === undefined || isStale !== undefined || lenders !== null || policy.sharesNodes
      ? recordsOf(view, vcluster, now, { reachable, isStale, lenders, budgetDays })
      : bringUpToDate(reuse, { view, vcluster, now, reachable, budgetDays, isKept: report !== "none" });
  // What may be absent is added one by one: copies would be a good part of a small cycle.
  const input: Making = {
    vcluster: vcluster.id,
    now,
    basis: view.index,
    weights: vcluster.weights,
    fifo: policy.order === "submission",
    backfillDepth: vcluster.backfillDepth,
    nodes,
    pending,
    releases,
    tenants,
  };
  if (policy.wait === "proportional") input.waitMeasure = policy.wait;
  if (policy.packs) input.packs = true;
  const pool = poolLeft(view, vcluster.id);
  if (pool !== null) input.pool = { ...pool, returns: poolReturns(view, releases) };
  if (policy.sharesNodes) input.rooms = roomsOf(view, vcluster, reachable);
  if (ground !== undefined) input.ground = ground;
  if (reuse !== undefined) input.reuse = reuse;
  if (report !== undefined) input.report = report;
  if (beyond.signals !== undefined) input.signals = beyond.signals;
  if (beyond.previous !== undefined) input.previous = beyond.previous;
  if (beyond.foreign !== undefined) input.foreign = beyond.foreign;
  if (beyond.told !== undefined) input.told = beyond.told;
  if (beyond.timed !== undefined) input.timed = beyond.timed;
  const { victims, awaiting, sensitive, maxVictims } = preemptionInputs(view, vcluster, now);
  if (victims !== undefined) input.victims = victims;
  if (awaiting !== undefined) input.awaiting = awaiting;
  if (sensitive !== undefined) input.sensitive = sensitive;
  if (maxVictims !== undefined) input.maxVictims = maxVictims;
  return input;
}

/** Of sensitive work in any vCluster: the pool is one for all. */
function poolReturns(view: View, releases: readonly ReleaseInput[]) {
  return releases
    .filter(({ allocation }) => isSensitive(view, allocation))
    .map(({ endsAt, nodes }) => ({ endsAt, nodes: nodes.length }));
}

function isSensitive(view: View, id: AllocationId): boolean {
  const spec = view.allocation(id)?.spec;
  const vcluster = spec === undefined ? undefined : view.vcluster(spec.vcluster);
  return vcluster !== undefined && policyOf(vcluster).sensitive;
}

type Making = { -readonly [Field in keyof CycleInput]: CycleInput[Field] };

/** True when a cycle could start nothing, so that not even a snapshot is worth taking. */
export function nothingToDo(view: View, vcluster: VCluster): boolean {
  if (view.pendingCount(vcluster.id) === 0) return true;
  return view.freeNodeCount === 0 && !policyOf(vcluster).sharesNodes && !mayMakeRoom(view, vcluster);
}

/** Of its own nodes, and of those that serve everybody: what is lent is lent whole. */
function roomsOf(view: View, vcluster: VCluster, reachable: Reachable): readonly RoomInput[] {
  const rooms: RoomInput[] = [];
  for (const node of view.nodes()) {
    const [first] = node.claims;
    if (first === undefined || (node.homeVCluster !== null && node.homeVCluster !== vcluster.id)) continue;
    if (!isSharedBy(node, { tenant: first.tenant, vcluster: vcluster.id }) || !reachable(node.id)) continue;
    rooms.push({ node: node.id, tenant: first.tenant, capabilities: node.capabilities, left: roomOf(node) });
  }
  return rooms;
}

type Records = Pick<CycleInput, "nodes" | "releases" | "pending" | "tenants" | "ground">;

interface Told {
  readonly reachable: Reachable;
  readonly isStale: Beyond["isStale"];
  readonly lenders: Lenders | null;
  readonly budgetDays: number;
}

/** All of them anew. */
function recordsOf(view: View, vcluster: VCluster, now: Instant, told: Told): Records {
  const { reachable, isStale, lenders, budgetDays } = told;
  const nodes: NodeInput[] = [];
  const releases: ReleaseInput[] = [];
  for (const node of view.nodes()) {
    const borrowed = node.homeVCluster !== null && node.homeVCluster !== vcluster.id;
    if (borrowed && lenders?.offers(node) !== true) continue;
    const own = nodeInput(node, reachable);
    const input = borrowed && node.homeVCluster !== null ? { ...own, lender: node.homeVCluster } : own;
    nodes.push(isStale?.(node.id) === true ? { ...input, conformance: "" } : input);
    const leaving = releasing(node, now);
    if (leaving !== null) releases.push(leaving);
  }
  for (const allocation of view.placed()) {
    const release = releaseOf(allocation);
    if (release !== null) releases.push(release);
  }
  const waiting = new Set<string>();
  for (const { spec } of view.pending(vcluster.id)) waiting.add(spec.tenant);
  const tenants = [...view.tenants()];
  const { weights } = vcluster;
  const reckoning = reckoningOf(view, { weights, now, days: budgetDays, tenants: tenants.length });
  return {
    nodes,
    releases,
    pending: Array.from(view.pending(vcluster.id), (record) =>
      pendingInput(record, lenders, mayShare(vcluster, record)),
    ),
    tenants: tenants.map((tenant) => tenantInput(view, tenant, waiting.has(tenant.id), reckoning)),
  };
}
