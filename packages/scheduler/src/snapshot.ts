// Builds a cycle's input from the view: the vCluster's pending allocations, the nodes it may use, when
// busy ones are expected back, and what tenants use and may use. Reads only; takes the time as given.

import {
  type Allocation,
  after,
  attempt,
  type Instant,
  type Node,
  type NodeId,
  type NodeStateKind,
  type VCluster,
  type View,
} from "@lattice/core";
import type { CycleInput, NodeInput, PendingInput, ReleaseInput, TenantInput } from "./cycle-types.ts";
import { EXPECTED_BACK_SOON, WALLTIME_GRACE } from "./limits.ts";

/** Whether a node could be told to start something right now; known to the leader, not to the log. */
export type Reachable = (node: NodeId) => boolean;

export function snapshotFor(
  view: View,
  vcluster: VCluster,
  now: Instant,
  reachable: Reachable = () => true,
): CycleInput {
  const nodes: NodeInput[] = [];
  const releases: ReleaseInput[] = [];
  for (const node of view.nodes()) {
    if (node.homeVCluster !== null && node.homeVCluster !== vcluster.id) continue;
    nodes.push(nodeInput(node, reachable));
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
    fifo: vcluster.scheduler === "interactive_fifo",
    backfillDepth: vcluster.backfillDepth,
    nodes,
    pending: Array.from(view.pending(vcluster.id), pendingInput),
    releases,
    tenants: tenantInputs(view),
  };
}

/** True when a cycle could start nothing, so that not even a snapshot is worth taking. */
export function nothingToDo(view: View, vcluster: VCluster): boolean {
  return view.freeNodeCount === 0 || view.pendingCount(vcluster.id) === 0;
}

/** States from which a node serves, or soon will, without anyone's help. */
const USABLE: ReadonlySet<NodeStateKind> = new Set<NodeStateKind>(["ready", "degraded", "booting"]);

function nodeInput(node: Node, reachable: Reachable): NodeInput {
  const { cpuCores, memoryBytes, gpuType, gpuCount, features } = node.capabilities;
  const idle = node.state.kind === "ready" && node.claims.length === 0;
  const free = idle && reachable(node.id);
  return {
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
}

/** A node whose claims are all on their way out comes back soon, whatever walltime was asked for. */
function releasing(node: Node, now: Instant): ReleaseInput | null {
  const first = node.claims[0];
  if (first === undefined || !node.claims.every((claim) => claim.releasing)) return null;
  return { allocation: first.allocation, nodes: [node.id], endsAt: after(now, EXPECTED_BACK_SOON) };
}

function releaseOf({ id, phase, spec }: Allocation): ReleaseInput | null {
  const release = (nodes: readonly NodeId[], start: Instant): ReleaseInput => {
    const { walltime } = spec.lifecycle;
    return { allocation: id, nodes, endsAt: walltime === null ? null : after(after(start, walltime), WALLTIME_GRACE) };
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

function pendingInput({ id, spec, submittedAt, attempt: last }: Allocation): PendingInput {
  const { minNodes, maxNodes, constraints } = spec.resources;
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
  };
}

/** A tenant without a share of its own gets an equal one. */
function tenantInputs(view: View): TenantInput[] {
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
    };
  });
}
