// What becomes of the nodes when an attempt ends. A node that has reported its end is released;
// a node that is gone is released without asking; any other keeps its claim, marked releasing,
// until it has confirmed that nothing of the attempt is left there.

import type { Duration, NodeId } from "../ids.ts";
import { markReleasing, releaseClaim, releaseTogether } from "../node/claims.ts";
import type { Step } from "../step.ts";
import type { Allocation } from "./allocation.ts";
import { attemptAt } from "./attempt-on.ts";
import type { AttemptRef, NodeProgress, PlacedPhase } from "./phase.ts";

export interface Parting {
  /** Nobody is there to confirm: the node is down. */
  readonly gone: NodeId | null;
  /** Told to the nodes that are to stop. */
  readonly reason: string;
  /** Between SIGTERM and SIGKILL; absent: the usual. */
  readonly grace?: Duration;
}

export function letGo(step: Step, record: Allocation, phase: PlacedPhase, parting: Parting): void {
  const { id: allocation, attempt } = record;
  const together = phase.attempts === undefined && parting.gone === null && phase.progress.every(hasEnded);
  if (together && releaseTogether(step, phase.nodes, { allocation, attempt })) {
    for (const node of phase.nodes) step.effects.push({ kind: "forget", node, allocation, attempt });
    return;
  }
  phase.nodes.forEach((node, i) => {
    const ref: AttemptRef = { allocation: record.id, attempt: attemptAt(record, phase, i) };
    if (node === parting.gone) releaseClaim(step, node, ref);
    else if (hasEnded(phase.progress[i])) forgetAttempt(step, node, ref);
    else markReleasing(step, node, ref, parting);
  });
}

/** The node has confirmed the end: it may drop what it keeps for repeating its report. */
export function forgetAttempt(step: Step, node: NodeId, ref: AttemptRef): void {
  releaseClaim(step, node, ref);
  const { allocation, attempt } = ref;
  step.effects.push({ kind: "forget", node, allocation, attempt });
}

export const hasEnded = (progress: NodeProgress | undefined): boolean =>
  progress?.state === "completed" || progress?.state === "failed";
