// A reconciler's decision to end an attempt and queue the allocation again. It names the number
// of requeues it has seen, so that two reconcilers with the same thought count once.

import type { RequeueCommand } from "../command.ts";
import type { Outcome } from "../outcome.ts";
import { accepted, quote, refuse, type Step } from "../step.ts";
import { type Failure, fail, overLimit, requeue } from "./failure.ts";
import { isPlaced } from "./phase.ts";
import { afterRunningWell, countedRequeues } from "./restart.ts";

export function requeueAllocation(step: Step, command: RequeueCommand): Outcome {
  const known = step.state.allocation(command.allocation);
  const record = known === undefined ? undefined : afterRunningWell(step, known);
  if (record === undefined) return refuse("unknown_allocation", `there is no allocation ${quote(command.allocation)}`);
  const { id, phase, requeues } = record;
  if (requeues !== command.expectedRequeues) {
    return refuse("stale_report", `allocation ${id} was requeued ${requeues} times, not ${command.expectedRequeues}`);
  }
  if (!isPlaced(phase)) return refuse("illegal_transition", `allocation ${id} is ${phase.kind} and holds no nodes`);

  const { requeuePolicy, maxRequeue } = record.spec.lifecycle;
  const reason = command.cause === "launch_failed" ? "launch_failed" : "node_failure";
  const failure: Failure = { reason, exitCode: null, message: `to be requeued: ${command.cause}`, gone: null };
  if (command.cause === "updated") requeue(step, record, phase, { cause: command.cause, gone: null });
  else if (requeuePolicy === "never") fail(step, record, phase, failure);
  else if (countedRequeues(record) >= maxRequeue) fail(step, record, phase, overLimit(record, failure));
  else requeue(step, record, phase, { cause: command.cause, gone: null });
  return accepted(id);
}
