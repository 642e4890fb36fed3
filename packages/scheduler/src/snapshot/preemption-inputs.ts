// The inputs of preemption for one vCluster's cycle: running work that no rule protects, and allocations that wait for
// freed nodes. Empty when no pending allocation is of a higher class than any running one.

import {
  type Allocation,
  type AllocationPhase,
  type Claim,
  type Duration,
  type Instant,
  isBorrower,
  isPlaced,
  NEAR_COMPLETION,
  type NodeId,
  policyOf,
  preemptionProtection,
  type VCluster,
  type VClusterId,
  type View,
} from "@lattice/core";
import { AWAIT_LIMIT } from "../base/bounds.ts";
import type { CycleInput } from "../input/cycle-input.ts";
import type { AwaitingInput, VictimInput } from "../input/preemption.ts";

/** Returns whether pending work of the vCluster is of a higher class than any running work. */
export function mayPreempt(view: View, vcluster: VCluster): boolean {
  const { preempts, sensitive } = policyOf(vcluster);
  if (!preempts || view.placedCount === 0) return false;
  return sensitive || view.highestPendingClass(vcluster.id) > view.lowestPlacedClass;
}

export function preemptionInputs(
  view: View,
  vcluster: VCluster,
  now: Instant,
): Pick<CycleInput, "victims" | "awaiting" | "isSensitive" | "maxVictims"> {
  const awaiting: AwaitingInput[] = [];
  for (const record of view.awaiting()) awaiting.push(...awaitingInput(view, vcluster, record, now));
  const isMaking = mayPreempt(view, vcluster);
  const { sensitive } = policyOf(vcluster);
  if (!sensitive && !isMaking && awaiting.length === 0) return NOTHING;
  return {
    ...(sensitive ? { isSensitive: true } : null),
    ...(awaiting.length === 0 ? null : { awaiting }),
    ...(isMaking ? { victims: victimInputs(view, vcluster), maxVictims: policyOf(vcluster).maxVictims } : null),
  };
}

const NOTHING = {};

function victimInputs(view: View, vcluster: VCluster): readonly VictimInput[] {
  const victims: VictimInput[] = [];
  const highest = policyOf(vcluster).sensitive ? Number.POSITIVE_INFINITY : view.highestPendingClass(vcluster.id);
  for (const record of view.placed()) {
    const { id, attempt, spec, phase } = record;
    const { preemptionClass, walltime, requeuePolicy } = spec.lifecycle;
    if (preemptionClass >= highest || !isPlaced(phase) || isSuspending(phase)) continue;
    if (preemptionProtection(view, record) !== null) continue;
    victims.push({
      allocation: id,
      attempt,
      tenant: spec.tenant,
      preemptionClass,
      nodes: phase.nodes,
      startedAt: phase.kind === "staging" ? null : phase.startedAt,
      walltime,
      requeues: requeuePolicy !== "never" || spec.checkpoint !== undefined,
      gpusPerNode: Math.max(1, gpusOf(view, phase.nodes[0])),
      nearCompletion: nearCompletionOf(view, spec.vcluster),
      borrows: isBorrower(view, record, vcluster.id),
      preempted: record.preemptions,
      ...(spec.checkpoint === undefined ? null : { checkpoints: true }),
    });
  }
  return victims;
}

/** The victim's own vCluster decides, not the preemptor's. */
function nearCompletionOf(view: View, id: VClusterId): Duration {
  const own = view.vcluster(id);
  return own === undefined ? NEAR_COMPLETION : policyOf(own).nearCompletion;
}

/** It is checkpointed so that its nodes can be used. */
const isSuspending = (phase: AllocationPhase): boolean =>
  phase.kind === "checkpointing" && phase.request.next === "suspend";

const gpusOf = (view: View, node: NodeId | undefined): number =>
  (node === undefined ? undefined : view.node(node)?.capabilities.gpuCount) ?? 0;

/** Empty when it can no longer start there: a node is gone or claimed again, or it has taken too long. */
function awaitingInput(view: View, vcluster: VCluster, record: Allocation, now: Instant): AwaitingInput[] {
  const { id, phase, spec } = record;
  if (phase.kind !== "pending" || phase.preemptedNodes === undefined) return [];
  const { nodes, since } = phase.preemptedNodes;
  let writing = false;
  const comes = nodes.every((name) => {
    const node = view.node(name);
    return node?.state.kind === "ready" && node.claims.every((claim) => claim.releasing || isWriting(claim));
  });
  function isWriting({ allocation }: Claim): boolean {
    const owner = view.allocation(allocation)?.phase;
    const suspends = owner !== undefined && isSuspending(owner);
    writing ||= suspends;
    return suspends;
  }
  // A checkpoint has a time limit of its own.
  if (!writing && now > since + AWAIT_LIMIT) return [];
  return comes ? [{ allocation: id, own: spec.vcluster === vcluster.id, nodes }] : [];
}
