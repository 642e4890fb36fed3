// Decides the next step of a rolling update: add a node with the new version where one is free, then remove a node with
// the old one. Waits until the new version is healthy on its nodes, and stops when it has failed. Pure.

import {
  type Allocation,
  attemptAt,
  between,
  type Duration,
  duration,
  type Instant,
  isHalted,
  type NodeId,
  outdatedNodes,
  type RequeueCommand,
  type RunningPhase,
  type ScaleCommand,
} from "@lattice/core";
import { type CandidateInputs, nodeToRemove, scaleOf } from "./choose-node.ts";

interface RenewalInputs extends CandidateInputs {
  /** Wall clock, for comparison with times in the state. */
  readonly wallNow: Instant;
  /** Returns whether the agent reported that the attempt passes its probe. */
  readonly probed: (node: NodeId, record: Allocation, attempt: number) => boolean;
  /** Returns a node to add; `null` when none is free or the quota is exhausted. */
  readonly another: () => NodeId | null;
}

/** Without a probe, a program that has run for this long counts as started. */
const STARTED_AFTER: Duration = duration(3_000);

/** Returns `null` when every node runs the current version. */
export function renew(
  record: Allocation,
  phase: RunningPhase,
  inputs: RenewalInputs,
): readonly (ScaleCommand | RequeueCommand)[] | null {
  const { renewal } = record;
  const old = outdatedNodes(record, phase);
  if (renewal === undefined || old === 0) return null;
  if (isHalted(record, phase) || !isHealthy(record, phase, renewal.through, inputs)) return [];
  const detail = `${old} of ${phase.nodes.length} nodes run the version from before the update`;
  const shrink = (): ScaleCommand[] => {
    const node = nodeToRemove(inputs.view, record, phase, renewal.through);
    return node === null ? [] : [scaleOf(record, phase, { change: "remove", node, reason: "renewal", detail })];
  };
  if (phase.nodes.length > renewal.size) return shrink();
  const node = inputs.another();
  if (node !== null) return [scaleOf(record, phase, { change: "add", node, reason: "renewal", detail })];
  if (phase.nodes.length > 1 && phase.nodes.length >= renewal.size) return shrink();
  // Another node is on its way.
  if (phase.nodes.length > 1) return [];
  return [{ kind: "allocation.requeue", allocation: record.id, expectedRequeues: record.requeues, cause: "updated" }];
}

/** Returns whether every node with the new version is healthy. */
function isHealthy(record: Allocation, phase: RunningPhase, through: number, inputs: RenewalInputs): boolean {
  const since = between(phase.countedFrom ?? phase.startedAt, inputs.wallNow);
  return phase.nodes.every((node, i) => {
    const attempt = attemptAt(record, phase, i);
    if (attempt <= through) return true;
    if (phase.progress[i]?.state !== "running") return false;
    const { probe } = record.spec;
    if (probe === undefined) return since >= STARTED_AFTER;
    // An attempt that has run for this long has passed its probe, or it would have been stopped.
    const { initialDelay, failureThreshold, period, timeout } = probe;
    const judged = initialDelay + (failureThreshold + 1) * (period + timeout);
    return inputs.probed(node, record, attempt) || since >= judged;
  });
}
