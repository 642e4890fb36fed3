// Builds the input of a cycle from the view: pending allocations, usable nodes, expected releases, and the use and
// limits of tenants. Reads only; time is an argument. With a cache, the previous snapshot is updated instead.

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
import type { CycleInput, NodeInput, ReleaseInput, SharedNodeInput } from "../input/cycle-input.ts";
import { updateSnapshot } from "./incremental.ts";
import { type Lenders, lendersTo } from "./lenders.ts";
import { mayPreempt, preemptionInputs } from "./preemption-inputs.ts";
import {
  alwaysReachable,
  type IsReachable,
  nodeInput,
  pendingInput,
  releaseOf,
  releasing,
  tenantInput,
  usageBasis,
} from "./records.ts";

/** The leader's knowledge in addition to the view, and the report it wants. */
export interface ExternalInputs
  extends Pick<
    CycleInput,
    "signals" | "previousReservations" | "foreignReservations" | "report" | "reported" | "cache" | "timed"
  > {
  /** A node whose fingerprint is too old counts as one of unknown conformance. */
  readonly isStale?: (node: NodeId) => boolean;
  /** Days over which use counts towards budgets and shares. Default: all days of the ledger. */
  readonly budgetDays?: number;
}

/** Returns the snapshot. With a cache, its prepared arrays are valid until the next snapshot with the same cache. */
export function snapshotFor(
  view: View,
  vcluster: VCluster,
  now: Instant,
  reachable: IsReachable = alwaysReachable,
  external: ExternalInputs = {},
): CycleInput {
  const { isStale, budgetDays = LEDGER_DAYS, cache, report } = external;
  const lenders = lendersTo(view, vcluster);
  const policy = policyOf(vcluster);
  // Lent nodes change with the lender's needs, and stale nodes with time: nothing to maintain.
  const { nodes, releases, pending, tenants, prepared } =
    cache === undefined || isStale !== undefined || lenders !== null || policy.sharesNodes
      ? recordsOf(view, vcluster, now, { reachable, isStale, lenders, budgetDays })
      : updateSnapshot(cache, { view, vcluster, now, reachable, budgetDays, isRecorded: report !== "none" });
  // Optional fields are set one by one: copies would be a large part of a small cycle.
  const input: MutableInput = {
    vcluster: vcluster.id,
    now,
    basis: view.index,
    weights: vcluster.weights,
    isFifo: policy.order === "submission",
    backfillDepth: vcluster.backfillDepth,
    nodes,
    pending,
    releases,
    tenants,
  };
  if (policy.wait === "proportional") input.waitMeasure = policy.wait;
  if (policy.packs) input.packsNodes = true;
  const pool = poolLeft(view, vcluster.id);
  if (pool !== null) input.pool = { ...pool, returns: poolReleases(view, releases) };
  if (policy.sharesNodes) input.sharedNodes = sharedNodesOf(view, vcluster, reachable);
  if (prepared !== undefined) input.prepared = prepared;
  if (cache !== undefined) input.cache = cache;
  if (report !== undefined) input.report = report;
  if (external.signals !== undefined) input.signals = external.signals;
  if (external.previousReservations !== undefined) input.previousReservations = external.previousReservations;
  if (external.foreignReservations !== undefined) input.foreignReservations = external.foreignReservations;
  if (external.reported !== undefined) input.reported = external.reported;
  if (external.timed !== undefined) input.timed = external.timed;
  const { victims, awaiting, isSensitive: sensitive, maxVictims } = preemptionInputs(view, vcluster, now);
  if (victims !== undefined) input.victims = victims;
  if (awaiting !== undefined) input.awaiting = awaiting;
  if (sensitive !== undefined) input.isSensitive = sensitive;
  if (maxVictims !== undefined) input.maxVictims = maxVictims;
  return input;
}

/** Releases of sensitive work in any vCluster: all share one pool. */
function poolReleases(view: View, releases: readonly ReleaseInput[]) {
  return releases
    .filter(({ allocation }) => isSensitive(view, allocation))
    .map(({ endsAt, nodes }) => ({ endsAt, nodes: nodes.length }));
}

function isSensitive(view: View, id: AllocationId): boolean {
  const spec = view.allocation(id)?.spec;
  const vcluster = spec === undefined ? undefined : view.vcluster(spec.vcluster);
  return vcluster !== undefined && policyOf(vcluster).sensitive;
}

type MutableInput = { -readonly [Field in keyof CycleInput]: CycleInput[Field] };

/** Returns true when a cycle could start nothing, so that no snapshot is needed. */
export function hasNothingToDo(view: View, vcluster: VCluster): boolean {
  if (view.pendingCount(vcluster.id) === 0) return true;
  return view.freeNodeCount === 0 && !policyOf(vcluster).sharesNodes && !mayPreempt(view, vcluster);
}

/** Nodes of its own and common nodes only: lent nodes are not shared. */
function sharedNodesOf(view: View, vcluster: VCluster, reachable: IsReachable): readonly SharedNodeInput[] {
  const shared: SharedNodeInput[] = [];
  for (const node of view.nodes()) {
    const [first] = node.claims;
    if (first === undefined || (node.homeVCluster !== null && node.homeVCluster !== vcluster.id)) continue;
    if (!isSharedBy(node, { tenant: first.tenant, vcluster: vcluster.id }) || !reachable(node.id)) continue;
    shared.push({ node: node.id, tenant: first.tenant, capabilities: node.capabilities, remaining: roomOf(node) });
  }
  return shared;
}

type Records = Pick<CycleInput, "nodes" | "releases" | "pending" | "tenants" | "prepared">;

interface RecordOptions {
  readonly reachable: IsReachable;
  readonly isStale: ExternalInputs["isStale"];
  readonly lenders: Lenders | null;
  readonly budgetDays: number;
}

/** Builds all records from scratch. */
function recordsOf(view: View, vcluster: VCluster, now: Instant, options: RecordOptions): Records {
  const { reachable, isStale, lenders, budgetDays } = options;
  const nodes: NodeInput[] = [];
  const releases: ReleaseInput[] = [];
  for (const node of view.nodes()) {
    const borrowed = node.homeVCluster !== null && node.homeVCluster !== vcluster.id;
    if (borrowed && lenders?.lends(node) !== true) continue;
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
  const reckoning = usageBasis(view, { weights, now, days: budgetDays, tenants: tenants.length });
  return {
    nodes,
    releases,
    pending: Array.from(view.pending(vcluster.id), (record) =>
      pendingInput(record, lenders, mayShare(vcluster, record)),
    ),
    tenants: tenants.map((tenant) => tenantInput(view, tenant, waiting.has(tenant.id), reckoning)),
  };
}
