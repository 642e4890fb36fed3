// An element that waited behind others and has not started returns to the queue: its node was lost, or its turn did not
// come in time. This is no fault of the work, so it does not count as a requeue.

import type { NodeId } from "../../base/ids.ts";
import type { Allocation } from "../../model/allocation/allocation.ts";
import type { PendingCause, PlacedPhase } from "../../model/allocation/phase.ts";
import type { Claim } from "../../model/node/node.ts";
import { moveAllocation } from "../allocation/move.ts";
import type { Step } from "../step.ts";
import { releaseNodes } from "./release-nodes.ts";

/** Whether its node has reported nothing of it, and others are in front of it. */
export const isWaitingBehind = (record: Allocation, phase: PlacedPhase, claim: Claim): boolean =>
  claim.behind === true &&
  claim.attempt === record.attempt &&
  phase.kind === "staging" &&
  phase.progress.every(({ state }) => state === "ordered");

interface Return {
  readonly cause: PendingCause;
  readonly message: string;
  /** The node that is down, if that is the cause. */
  readonly lostNode: NodeId | null;
}

export function returnFromBehind(
  step: Step,
  record: Allocation,
  phase: PlacedPhase,
  { cause, message, lostNode }: Return,
): void {
  releaseNodes(step, record, phase, { lostNode, reason: "requeued" });
  moveAllocation(
    step,
    record,
    { kind: "pending", since: step.at, cause, message },
    { pendingSinceIndex: step.index, recalls: (record.recalls ?? 0) + 1 },
  );
}
