// attempt.expire: the server's backstop for walltime. It ends an attempt that its agent has not ended. The time is
// rechecked, because the walltime may have been extended after the leader's decision.

import type { AllocationId, Attempt } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse, unchanged } from "../../base/outcome.ts";
import { isFinal, isPlaced } from "../../model/allocation/phase.ts";
import { fail } from "../../transitions/attempt/failure.ts";
import type { Step } from "../../transitions/step.ts";

/** Ends an attempt whose walltime has long passed. */
export interface ExpireCommand {
  readonly kind: "attempt.expire";
  readonly allocation: AllocationId;
  readonly attempt: Attempt;
}

export function expireAttempt(step: Step, command: ExpireCommand): Outcome {
  const record = step.state.allocation(command.allocation);
  if (record === undefined) return refuse("unknown_allocation", `there is no allocation ${quote(command.allocation)}`);
  const { id, phase, attempt } = record;
  if (attempt !== command.attempt) {
    return refuse("stale_report", `allocation ${id} is at attempt ${attempt}, not ${command.attempt}`);
  }
  if (isFinal(phase)) return unchanged(id);
  if (!isPlaced(phase)) return refuse("illegal_transition", `allocation ${id} is ${phase.kind} and has no nodes`);
  const { walltime } = record.spec.lifecycle;
  if (walltime === null) return refuse("illegal_transition", `allocation ${id} has no walltime`);
  const since = phase.kind === "staging" ? (phase.turnBy ?? phase.placedAt) : phase.startedAt;
  if (step.at < since + walltime) return refuse("stale_report", `allocation ${id} still has walltime left`);

  const message = `the walltime of ${walltime / 1000} s is over`;
  fail(step, record, phase, { reason: "walltime_exceeded", exitCode: null, message, lostNode: null });
  return accepted(id);
}
