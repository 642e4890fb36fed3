// Cancelling is at once and final for the user; the nodes follow. The claims of a placed
// allocation stay, marked releasing, until each node has confirmed that its processes are gone.

import type { CancelCommand } from "../command.ts";
import type { UserName } from "../ids.ts";
import type { Outcome } from "../outcome.ts";
import { accepted, quote, refuse, type Step, unchanged } from "../step.ts";
import type { Allocation } from "./allocation.ts";
import { letGo } from "./let-go.ts";
import { moveAllocation } from "./move.ts";
import { type CancelledPhase, isFinal, isPlaced } from "./phase.ts";

export function cancelAllocation(step: Step, command: CancelCommand): Outcome {
  const record = step.state.allocation(command.id);
  if (record === undefined) return refuse("unknown_allocation", `there is no allocation ${quote(command.id)}`);
  if (record.phase.kind === "cancelled") return unchanged(record.id);
  if (isFinal(record.phase)) {
    return refuse("illegal_transition", `allocation ${record.id} is already ${record.phase.kind}`);
  }

  if (isPlaced(record.phase)) letGo(step, record, record.phase, { gone: null, reason: "cancelled" });
  moveAllocation(step, record, cancelled(step, record, command.origin.user, command.reason));
  return accepted(record.id);
}

function cancelled(step: Step, record: Allocation, by: UserName, reason: string): CancelledPhase {
  const { phase } = record;
  return {
    kind: "cancelled",
    by,
    reason,
    nodes: isPlaced(phase) ? phase.nodes : [],
    startedAt: "startedAt" in phase ? phase.startedAt : null,
    endedAt: step.at,
    exitCode: null,
    message: "",
  };
}
