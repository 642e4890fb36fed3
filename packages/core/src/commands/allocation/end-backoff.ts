// allocation.end_backoff: the leader returns an allocation to the queue when its backoff is over.

import type { AllocationId } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse, unchanged } from "../../base/outcome.ts";
import type { PendingPhase } from "../../model/allocation/phase.ts";
import { withNote } from "../../model/allocation/record-past.ts";
import { allocationChanged } from "../../transitions/allocation/move.ts";
import type { Step } from "../../transitions/step.ts";

export interface EndBackoffCommand {
  readonly kind: "allocation.end_backoff";
  readonly allocation: AllocationId;
}

export function endBackoff(step: Step, command: EndBackoffCommand): Outcome {
  const record = step.state.allocation(command.allocation);
  if (record === undefined) return refuse("unknown_allocation", `there is no allocation ${quote(command.allocation)}`);
  const { phase } = record;
  if (phase.kind !== "pending" || phase.backoffUntil === undefined) return unchanged(record.id);
  if (step.at < phase.backoffUntil) return refuse("stale_report", `allocation ${record.id} has more backoff to wait`);
  const { backoffUntil: _over, backoffReason: _why, ...rest } = phase;
  const queued: PendingPhase = rest;
  // A retry after an exhausted VNI pool is not an event in the life of the allocation.
  const text = "Its backoff is over; it is queued again.";
  const noted =
    phase.backoffReason === undefined ? withNote(record, { type: "decision", kind: "released", text }, step) : record;
  const released = { ...noted, phase: queued, pendingSinceIndex: step.index };
  step.state.putAllocation(released);
  step.events.push({ ...allocationChanged(released, "pending"), reason: "released" });
  return accepted(record.id);
}
