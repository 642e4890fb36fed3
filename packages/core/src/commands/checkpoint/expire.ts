// checkpoint.expire: the server's backstop for checkpoints that their nodes should have given up. Nodes enforce the
// timeout themselves; this covers nodes that cannot report.

import type { AllocationId, Attempt } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse, unchanged } from "../../base/outcome.ts";
import { checkpointRefused } from "../../transitions/checkpoint/answer.ts";
import type { Step } from "../../transitions/step.ts";

/** Gives up a checkpoint whose timeout has long passed. */
export interface ExpireCheckpointCommand {
  readonly kind: "checkpoint.expire";
  readonly allocation: AllocationId;
  readonly attempt: Attempt;
  readonly n: number;
}

export function expireCheckpoint(step: Step, command: ExpireCheckpointCommand): Outcome {
  const record = step.state.allocation(command.allocation);
  if (record === undefined) return refuse("unknown_allocation", `there is no allocation ${quote(command.allocation)}`);
  const { id, attempt, phase } = record;
  if (attempt !== command.attempt) {
    return refuse("stale_report", `allocation ${id} is at attempt ${attempt}, not ${command.attempt}`);
  }
  if (phase.kind !== "checkpointing" || phase.request.n !== command.n) return unchanged(id);
  checkpointRefused(step, record, phase, "not all nodes have answered in time");
  return accepted(id);
}
