// Cancelling is at once and final for the user; the nodes follow. The claims of a placed
// allocation stay, marked releasing, until each node has confirmed that its processes are gone.

import type { CancelCommand } from "../command.ts";
import { cancelOfGroup } from "../group/cancel.ts";
import type { UserName } from "../ids.ts";
import type { Outcome } from "../outcome.ts";
import { accepted, quote, refuse, type Step, unchanged } from "../step.ts";
import type { Allocation } from "./allocation.ts";
import { letGo } from "./let-go.ts";
import { moveAllocation } from "./move.ts";
import { type CancelledPhase, isFinal, isPlaced } from "./phase.ts";

export function cancelAllocation(step: Step, command: CancelCommand): Outcome {
  const record = step.state.allocation(command.id);
  if (record === undefined || command.elements !== undefined) {
    const outcome = cancelOfGroup(step, command);
    if (outcome !== null) return outcome;
  }
  if (record === undefined) return refuse("unknown_allocation", `there is no allocation ${quote(command.id)}`);
  if (record.phase.kind === "cancelled") return unchanged(record.id);
  if (isFinal(record.phase)) {
    return refuse("illegal_transition", `allocation ${record.id} is already ${record.phase.kind}`);
  }

  endByCancel(step, record, { by: command.origin.user, reason: command.reason, message: "" });
  return accepted(record.id);
}

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
