// What the view tells of preemption, for one vCluster's cycle: running work that no rule shields, and nodes
// that were freed for somebody. Nothing is looked at where nobody waiting is above anybody running.

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
  shieldOf,
  type VCluster,
  type VClusterId,
  type View,
} from "@lattice/core";
import type { CycleInput } from "../cycle-types.ts";
import { AWAIT_LIMIT } from "../limits.ts";
import type { AwaitingInput, VictimInput } from "./preempt-types.ts";

/** Whether waiting work of the vCluster is above anything that runs. */
export function mayMakeRoom(view: View, vcluster: VCluster): boolean {
  const { preempts, sensitive } = policyOf(vcluster);
  if (!preempts || view.placedCount === 0) return false;
  return sensitive || view.highestPendingClass(vcluster.id) > view.lowestPlacedClass;
}

export function preemptionInputs(
  view: View,
  vcluster: VCluster,
  now: Instant,
): Pick<CycleInput, "victims" | "awaiting" | "sensitive" | "maxVictims"> {
  const awaiting: AwaitingInput[] = [];
  for (const record of view.awaiting()) awaiting.push(...awaitingInput(view, vcluster, record, now));
  const isMaking = mayMakeRoom(view, vcluster);
  const { sensitive } = policyOf(vcluster);
  if (!sensitive && !isMaking && awaiting.length === 0) return NOTHING;
  return {
    ...(sensitive ? { sensitive: true } : null),
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
    if (preemptionClass >= highest || !isPlaced(phase) || isMakingRoom(phase)) continue;
    if (shieldOf(view, record) !== null) continue;
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
      ...(record.preemptions === undefined ? null : { preempted: record.preemptions }),
      ...(spec.checkpoint === undefined ? null : { checkpoints: true }),
    });
  }
  return victims;
}

/** Its own vCluster's word, whoever asks. */
function nearCompletionOf(view: View, id: VClusterId): Duration {
  const own = view.vcluster(id);
  return own === undefined ? NEAR_COMPLETION : policyOf(own).nearCompletion;
}

/** It is being checkpointed for its nodes. */
const isMakingRoom = (phase: AllocationPhase): boolean =>
  phase.kind === "checkpointing" && phase.request.next === "suspend";

const gpusOf = (view: View, node: NodeId | undefined): number =>
  (node === undefined ? undefined : view.node(node)?.capabilities.gpuCount) ?? 0;

/** None when it cannot come true any more: a node is gone or somebody else's, or it has taken too long. */
function awaitingInput(view: View, vcluster: VCluster, record: Allocation, now: Instant): AwaitingInput[] {
  const { id, phase, spec } = record;
  if (phase.kind !== "pending" || phase.awaits === undefined) return [];
  const { nodes, since } = phase.awaits;
  let writing = false;
  const comes = nodes.every((name) => {
    const node = view.node(name);
    return node?.state.kind === "ready" && node.claims.every((claim) => claim.releasing || isWriting(claim));
  });
  function isWriting({ allocation }: Claim): boolean {
    const holder = view.allocation(allocation)?.phase;
    const makesRoom = holder !== undefined && isMakingRoom(holder);
    writing ||= makesRoom;
    return makesRoom;
  }
  // A checkpoint has its own limit, which those that take it keep.
  if (!writing && now > since + AWAIT_LIMIT) return [];
  return comes ? [{ allocation: id, own: spec.vcluster === vcluster.id, nodes }] : [];
}
