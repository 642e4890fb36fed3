// The end by cancellation, whoever asks for it: a user, a group, a DAG, or a dependency that is dead.

import type { UserName } from "../ids.ts";
import type { Step } from "../step.ts";
import type { Allocation } from "./allocation.ts";
import { letGo } from "./let-go.ts";
import { moveAllocation } from "./move.ts";
import { type CancelledPhase, isPlaced } from "./phase.ts";

export interface Cancellation {
  readonly by: UserName;
  readonly reason: string;
  readonly message: string;
}

/** Only of one that has not ended. */
export function endByCancel(step: Step, record: Allocation, how: Cancellation): void {
  if (isPlaced(record.phase)) letGo(step, record, record.phase, { gone: null, reason: "cancelled" });
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
