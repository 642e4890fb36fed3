// Builds a cycle's input from the view: the vCluster's pending allocations, the nodes it may use, when
// busy ones are expected back, and what tenants use and may use. Reads only; takes the time as given.

import {
  type Allocation,
  after,
  attempt,
  budgetUse,
  type Instant,
  LEDGER_DAYS,
  lastDays,
  type Node,
  type NodeId,
  type NodeStateKind,
  placementConstraints,
  policyOf,
  type Tenant,
  type VCluster,
  type View,
  type Window,
} from "@lattice/core";
import type { CycleInput, NodeInput, PendingInput, ReleaseInput, TenantInput } from "./cycle-types.ts";
import { type Lenders, lendersTo } from "./lend/borrow.ts";
import { EXPECTED_BACK_SOON, WALLTIME_GRACE } from "./limits.ts";
import { mayMakeRoom, preemptionInputs } from "./preempt/victims.ts";

/** Whether a node could be told to start something right now; known to the leader, not to the log. */
export type Reachable = (node: NodeId) => boolean;

/** What the leader knows beyond the view, and what it wants to be told. */
export interface Beyond extends Pick<CycleInput, "signals" | "previous" | "foreign" | "report" | "reuse" | "timed"> {
  /** A node that has not told its fingerprint for too long counts as one of unknown conformance. */
  readonly isStale?: (node: NodeId) => boolean;
  /** Days over which use counts towards budgets and shares; absent: all that the ledger keeps. */
  readonly budgetDays?: number;
}

export function snapshotFor(
  view: View,
  vcluster: VCluster,
  now: Instant,
  reachable: Reachable = () => true,
  beyond: Beyond = {},
): CycleInput {
  const { isStale, budgetDays = LEDGER_DAYS, ...rest } = beyond;
  const nodes: NodeInput[] = [];
  const releases: ReleaseInput[] = [];
  const lenders = lendersTo(view, vcluster);
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
  return {
    vcluster: vcluster.id,
    now,
    basis: view.index,
    weights: vcluster.weights,
    fifo: policyOf(vcluster).order === "submission",
    backfillDepth: vcluster.backfillDepth,
    nodes,
    pending: Array.from(view.pending(vcluster.id), (record) => pendingInput(record, lenders)),
    releases,
    tenants: tenantInputs(view, vcluster, now, budgetDays),
    ...preemptionInputs(view, vcluster, now),
    ...rest,
  };
}

/** True when a cycle could start nothing, so that not even a snapshot is worth taking. */
export function nothingToDo(view: View, vcluster: VCluster): boolean {
  return view.pendingCount(vcluster.id) === 0 || (view.freeNodeCount === 0 && !mayMakeRoom(view, vcluster));
}

/** States from which a node serves, or soon will, without anyone's help. */
const USABLE: ReadonlySet<NodeStateKind> = new Set<NodeStateKind>(["ready", "degraded", "booting"]);

function nodeInput(node: Node, reachable: Reachable): NodeInput {
  const { cpuCores, memoryBytes, gpuType, gpuCount, features } = node.capabilities;
  const { cxlMemoryBytes, powerWatts, gpuTopology, memoryTopology } = node.capabilities;
  const idle = node.state.kind === "ready" && node.claims.length === 0;
  const free = idle && reachable(node.id);
  const plain: NodeInput = {
    id: node.id,
    group: node.group,
    conformance: node.conformance,
    cpuCores,
    memoryBytes,
    gpuType,
    gpuCount,
    features,
    free,
    usable: USABLE.has(node.state.kind),
    notFreeBecause: free ? "" : idle ? "unreachable" : node.state.kind === "ready" ? "busy" : node.state.kind,
  };
  const tells = cxlMemoryBytes ?? powerWatts ?? gpuTopology ?? memoryTopology;
  if (tells === undefined) return plain;
  return {
    ...plain,
    ...(cxlMemoryBytes === undefined ? null : { cxlMemoryBytes }),
    ...(powerWatts === undefined ? null : { powerWatts }),
    ...(gpuTopology === undefined ? null : { gpuTopology }),
    ...(memoryTopology === undefined ? null : { memoryTopology }),
  };
}

/** A node whose claims are all on their way out comes back soon, whatever walltime was asked for. */
function releasing(node: Node, now: Instant): ReleaseInput | null {
  const first = node.claims[0];
  if (first === undefined || !node.claims.every((claim) => claim.releasing)) return null;
  const { allocation, tenant } = first;
  return { allocation, nodes: [node.id], endsAt: after(now, EXPECTED_BACK_SOON), tenant };
}

function releaseOf({ id, phase, spec }: Allocation): ReleaseInput | null {
  const release = (nodes: readonly NodeId[], start: Instant): ReleaseInput => {
    const { walltime } = spec.lifecycle;
    const endsAt = walltime === null ? null : after(after(start, walltime), WALLTIME_GRACE);
    return { allocation: id, nodes, endsAt, tenant: spec.tenant };
  };
  switch (phase.kind) {
    case "staging":
      return release(phase.nodes, phase.placedAt);
    case "running":
    case "checkpointing":
      return release(phase.nodes, phase.startedAt);
    default:
      return null;
  }
}

function pendingInput(record: Allocation, lenders: Lenders | null): PendingInput {
  const { id, spec, submittedAt, attempt: last } = record;
  const borrowsFrom = lenders?.openTo(record) ?? null;
  const { minNodes, maxNodes } = spec.resources;
  const constraints = placementConstraints(record);
  const { walltime, preemptionClass } = spec.lifecycle;
  return {
    id,
    tenant: spec.tenant,
    submittedAt,
    minNodes,
    maxNodes,
    constraints,
    walltime,
    preemptionClass,
    nextAttempt: attempt(last + 1),
    ...(borrowsFrom === null ? null : { borrowsFrom }),
    ...(constraints.maxGroups === undefined ? null : { maxGroups: constraints.maxGroups }),
  };
}

/** A tenant without a share of its own gets an equal one. */
function tenantInputs(view: View, { id: own }: VCluster, now: Instant, days: number): TenantInput[] {
  const waiting = new Set<string>();
  for (const { spec } of view.pending(own)) waiting.add(spec.tenant);
  const window = lastDays(now, days);
  const all = view.ledger.spent({}, window).nodeMs;
  const tenants = [...view.tenants()];
  const equalShareMilli = Math.max(1, Math.round(1000 / tenants.length));
  return tenants.map(({ id, quota }) => {
    const usage = view.usage(id);
    return {
      id,
      nodesInUse: usage.nodes,
      running: usage.running,
      maxNodes: quota.maxNodes,
      maxConcurrentAllocations: quota.maxConcurrentAllocations,
      fairShareMilli: quota.fairShareMilli ?? equalShareMilli,
      ...(quota.burstAllowanceMilli === null ? null : { burstAllowanceMilli: quota.burstAllowanceMilli }),
      // Only who waits is ordered by its share.
      ...(waiting.has(id) && all > 0
        ? { usedShareMilli: shareOf(view.ledger.spent({ tenant: id }, window), all) }
        : null),
      ...budgetOf(view, { id, quota }, window),
    };
  });
}

const shareOf = ({ nodeMs }: { readonly nodeMs: number }, all: number): number => Math.round((1000 * nodeMs) / all);

/** From committed state alone: the leader before would say the same. */
function budgetOf(view: View, { id, quota }: Pick<Tenant, "id" | "quota">, window: Window) {
  if (quota.gpuHoursBudget === null && quota.nodeHoursBudget === null) return null;
  const used = budgetUse(quota, view.ledger.spent({ tenant: id }, window));
  return used === null ? null : { budgetUsedMilli: Math.round(used * 1000) };
}
