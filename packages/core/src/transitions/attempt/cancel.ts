// The end by cancellation, for every cause: a user, a group, a DAG, or a dependency that can no longer be met.

import type { UserName } from "../../base/ids.ts";
import type { Allocation } from "../../model/allocation/allocation.ts";
import { type CancelledPhase, isPlaced } from "../../model/allocation/phase.ts";
import { moveAllocation } from "../allocation/move.ts";
import { releaseNodes } from "../claims/release-nodes.ts";
import type { Step } from "../step.ts";

export interface Cancellation {
  readonly by: UserName;
  readonly reason: string;
  readonly message: string;
}

/** The allocation must not have ended. */
export function cancelAllocation(step: Step, record: Allocation, how: Cancellation): void {
  if (isPlaced(record.phase)) releaseNodes(step, record, record.phase, { lostNode: null, reason: "cancelled" });
  moveAllocation(step, record, cancelled(step, record, how));
}

function cancelled(step: Step, record: Allocation, { by, reason, message }: Cancellation): CancelledPhase {
  const { phase } = record;
  return {
    kind: "cancelled",
    by,
    reason,
    nodes: isPlaced(phase) ? phase.nodes : [],
    startedAt: "startedAt" in phase ? phase.startedAt : null,
    endedAt: step.at,
    exitCode: null,
    message,
  };
}
