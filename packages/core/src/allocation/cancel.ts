// Cancelling is at once and final for the user; the nodes follow. The claims of a placed
// allocation stay, marked releasing, until each node has confirmed that its processes are gone.

import type { CancelCommand } from "../command.ts";
import { cancelOfGroup } from "../group/cancel.ts";
import type { Outcome } from "../outcome.ts";
import { accepted, quote, refuse, type Step, unchanged } from "../step.ts";
import { endByCancel } from "./end-by-cancel.ts";
import { isFinal } from "./phase.ts";

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
