// Releases the nodes when an attempt ends. A node that has reported its end is released; a node that is down is
// released without confirmation; any other keeps its claim, marked releasing, until it has confirmed that nothing of
// the attempt is left.

import type { Duration, NodeId } from "../../base/ids.ts";
import type { Allocation } from "../../model/allocation/allocation.ts";
import { hasEnded } from "../../model/allocation/attempt-end.ts";
import { attemptAt } from "../../model/allocation/node-attempts.ts";
import type { AttemptRef, PlacedPhase } from "../../model/allocation/phase.ts";
import type { Step } from "../step.ts";
import { markReleasing, releaseAllAtOnce, releaseClaim } from "./claims.ts";

interface ReleaseOptions {
  /** The node that is down and cannot confirm the end; `null` when all nodes can. */
  readonly lostNode: NodeId | null;
  /** Sent to the nodes with the stop order. */
  readonly reason: string;
  /** Between SIGTERM and SIGKILL. Default: the usual grace. */
  readonly grace?: Duration;
}

export function releaseNodes(step: Step, record: Allocation, phase: PlacedPhase, parting: ReleaseOptions): void {
  const { id: allocation, attempt } = record;
  const together = phase.attempts === undefined && parting.lostNode === null && phase.progress.every(hasEnded);
  if (together && releaseAllAtOnce(step, phase.nodes, { allocation, attempt })) {
    for (const node of phase.nodes) step.effects.push({ kind: "forget", node, allocation, attempt });
    return;
  }
  phase.nodes.forEach((node, i) => {
    const ref: AttemptRef = { allocation: record.id, attempt: attemptAt(record, phase, i) };
    if (node === parting.lostNode) releaseClaim(step, node, ref);
    else if (hasEnded(phase.progress[i])) forgetAttempt(step, node, ref);
    else markReleasing(step, node, ref, parting);
  });
}

/** The node has confirmed the end and may drop its record of the attempt. */
export function forgetAttempt(step: Step, node: NodeId, ref: AttemptRef): void {
  releaseClaim(step, node, ref);
  const { allocation, attempt } = ref;
  step.effects.push({ kind: "forget", node, allocation, attempt });
}
