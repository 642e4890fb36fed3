// allocation.requeue: a controller ends an attempt and queues the allocation again. The command names the number of
// requeues that the controller has seen, so that two controllers with the same decision count once.

import type { AllocationId } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse } from "../../base/outcome.ts";
import { isPlaced } from "../../model/allocation/phase.ts";
import { countedRequeues, forgetRequeuesAfterLongRun } from "../../transitions/attempt/backoff.ts";
import { type Failure, fail, requeue, requeueLimitReached } from "../../transitions/attempt/failure.ts";
import type { Step } from "../../transitions/step.ts";

/** Ends the attempt and queues the allocation again, in one command. */
export interface RequeueCommand {
  readonly kind: "allocation.requeue";
  readonly allocation: AllocationId;
  /** Prevents two controllers from counting twice. */
  readonly expectedRequeues: number;
  readonly cause: "node_failure" | "launch_failed" | "drained" | "policy" | "updated";
}

export function requeueAllocation(step: Step, command: RequeueCommand): Outcome {
  const known = step.state.allocation(command.allocation);
  const record = known === undefined ? undefined : forgetRequeuesAfterLongRun(step, known);
  if (record === undefined) return refuse("unknown_allocation", `there is no allocation ${quote(command.allocation)}`);
  const { id, phase, requeues } = record;
  if (requeues !== command.expectedRequeues) {
    return refuse("stale_report", `allocation ${id} was requeued ${requeues} times, not ${command.expectedRequeues}`);
  }
  if (!isPlaced(phase)) return refuse("illegal_transition", `allocation ${id} is ${phase.kind} and has no nodes`);

  const { requeuePolicy, maxRequeue } = record.spec.lifecycle;
  const reason = command.cause === "launch_failed" ? "launch_failed" : "node_failure";
  const failure: Failure = { reason, exitCode: null, message: `to be requeued: ${command.cause}`, lostNode: null };
  if (command.cause === "updated") requeue(step, record, phase, { cause: command.cause, lostNode: null });
  else if (requeuePolicy === "never") fail(step, record, phase, failure);
  else if (countedRequeues(record) >= maxRequeue) fail(step, record, phase, requeueLimitReached(record, failure));
  else requeue(step, record, phase, { cause: command.cause, lostNode: null });
  return accepted(id);
}
