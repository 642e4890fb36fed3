// attempt.checkpoint: a controller requests a checkpoint of one attempt.

import type { AllocationId, Attempt } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { refuse } from "../../base/outcome.ts";
import { requestCheckpoint } from "../../transitions/checkpoint/ask.ts";
import type { Step } from "../../transitions/step.ts";

/**
 * A controller requests a checkpoint: the broker, because it pays off, or a drain or the end of the
 * walltime, which suspend the work afterwards.
 */
export interface AttemptCheckpointCommand {
  readonly kind: "attempt.checkpoint";
  readonly allocation: AllocationId;
  readonly attempt: Attempt;
  readonly cause: "broker" | "drained" | "walltime";
  readonly message: string;
}

/** The command names the attempt, so that a decision about an older attempt is rejected. */
export function checkpointAttempt(step: Step, command: AttemptCheckpointCommand): Outcome {
  const record = step.state.allocation(command.allocation);
  if (record !== undefined && record.attempt !== command.attempt) {
    return refuse("stale_report", `allocation ${record.id} is at attempt ${record.attempt}, not ${command.attempt}`);
  }
  const { cause, message } = command;
  return requestCheckpoint(step, command.allocation, {
    cause,
    next: cause === "broker" ? "go_on" : "suspend",
    message,
  });
}
