// Orders about checkpoints: how an attempt can be checkpointed, sent with its start, and the request for one. Both are
// derived from the record, so that every leader can repeat them.

import { create } from "@bufbuild/protobuf";
import type { Allocation, CheckpointRemoval, Duration, NodeId, View } from "@lattice/core";
import { pb } from "@lattice/wire";
import type { AgentHub, ServerMessageBody } from "./hub.ts";

/** Returns the checkpoint part of a run order; `null` without checkpoints. */
export function checkpointPlan({ spec, checkpoints }: Allocation): { checkpoint: pb.CheckpointPlan } | null {
  if (spec.checkpoint === undefined) return null;
  const { mode, port } = spec.checkpoint;
  const resumeFrom = checkpoints?.last?.n ?? 0;
  return { checkpoint: create(pb.CheckpointPlanSchema, { mode, port, resumeFrom }) };
}

/** Returns `null` when no checkpoint is requested, or the node has answered. `keep`: complete checkpoints to keep; 0 for all. */
export function checkpointOrder(allocation: Allocation, node: NodeId, keep = 0): ServerMessageBody | null {
  const { id, attempt, phase, spec, checkpoints } = allocation;
  if (phase.kind !== "checkpointing" || spec.checkpoint === undefined) return null;
  const { n, next, answers, message } = phase.request;
  if (answers[phase.nodes.indexOf(node)] !== null) return null;
  return {
    case: "checkpoint",
    value: create(pb.CheckpointOrderSchema, {
      allocationId: id,
      attempt,
      number: n,
      stopAfter: next === "suspend",
      timeoutSeconds: Math.ceil(spec.checkpoint.timeout / 1000),
      maxDeferralSeconds: Math.ceil(spec.checkpoint.maxDeferral / 1000),
      lastCompleted: checkpoints?.last?.n ?? 0,
      message,
      ...(keep > 0 && checkpoints?.kept !== undefined ? { prune: true, keep: checkpoints.kept.slice(-keep) } : null),
    }),
  };
}

/** Returns the order to remove the checkpoints of an allocation `after` its end. */
export function clearOrder(
  { allocation, tenant, project, user }: CheckpointRemoval,
  after: Duration,
): ServerMessageBody {
  const afterSeconds = Math.ceil(after / 1000);
  const clear = create(pb.CheckpointsToClearSchema, { tenant, project, user, afterSeconds });
  return { case: "clearCheckpoints", value: create(pb.ClearCheckpointsSchema, { allocationId: allocation, clear }) };
}

/** Returns the unanswered checkpoint orders of a node. */
export function checkpointOrdersOf(view: View, node: NodeId): ServerMessageBody[] {
  return (view.node(node)?.claims ?? []).flatMap((claim) => {
    const allocation = claim.releasing ? undefined : view.allocation(claim.allocation);
    return (allocation === undefined ? null : checkpointOrder(allocation, node)) ?? [];
  });
}

/** Sends the orders again to every node that has not answered; agents take a checkpoint number once. */
export function checkpointOrdersFor(view: View, hub: Pick<AgentHub, "send">, keep: number): void {
  for (const allocation of view.placed()) {
    if (allocation.phase.kind !== "checkpointing") continue;
    for (const node of allocation.phase.nodes) {
      const order = checkpointOrder(allocation, node, keep);
      if (order !== null) hub.send(node, order);
    }
  }
}
