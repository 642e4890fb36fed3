// The server's backstop for checkpoints: ends the try of one that its nodes should have given up long ago.
// Nodes keep the time themselves; this is for those that cannot say so.

import type { Outcome } from "../outcome.ts";
import { accepted, quote, refuse, type Step, unchanged } from "../step.ts";
import { checkpointFailed } from "./answer.ts";
import type { ExpireCheckpointCommand } from "./commands.ts";

export function expireCheckpoint(step: Step, command: ExpireCheckpointCommand): Outcome {
  const record = step.state.allocation(command.allocation);
  if (record === undefined) return refuse("unknown_allocation", `there is no allocation ${quote(command.allocation)}`);
  const { id, attempt, phase } = record;
  if (attempt !== command.attempt) {
    return refuse("stale_report", `allocation ${id} is at attempt ${attempt}, not ${command.attempt}`);
  }
  if (phase.kind !== "checkpointing" || phase.request.n !== command.n) return unchanged(id);
  checkpointFailed(step, record, phase, "not all nodes have answered in time");
  return accepted(id);
}
