// The server's backstop for walltime: ends an attempt whose agent has not. The time is checked
// again here, because the walltime may have been extended after the leader looked.

import type { ExpireCommand } from "../command.ts";
import type { Outcome } from "../outcome.ts";
import { accepted, quote, refuse, type Step, unchanged } from "../step.ts";
import { fail } from "./failure.ts";
import { isFinal, isPlaced } from "./phase.ts";

export function expireAttempt(step: Step, command: ExpireCommand): Outcome {
  const record = step.state.allocation(command.allocation);
  if (record === undefined) return refuse("unknown_allocation", `there is no allocation ${quote(command.allocation)}`);
  const { id, phase, attempt } = record;
  if (attempt !== command.attempt) {
    return refuse("stale_report", `allocation ${id} is at attempt ${attempt}, not ${command.attempt}`);
  }
  if (isFinal(phase)) return unchanged(id);
  if (!isPlaced(phase)) return refuse("illegal_transition", `allocation ${id} is ${phase.kind} and holds no nodes`);
  const { walltime } = record.spec.lifecycle;
  if (walltime === null) return refuse("illegal_transition", `allocation ${id} has no walltime`);
  const since = phase.kind === "staging" ? phase.placedAt : phase.startedAt;
  if (step.at < since + walltime) return refuse("stale_report", `allocation ${id} still has walltime left`);

  const message = `the walltime of ${walltime / 1000} s is over`;
  fail(step, record, phase, { reason: "walltime_exceeded", exitCode: null, message, gone: null });
  return accepted(id);
}
