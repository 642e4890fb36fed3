// A suspended allocation goes back to the queue when nothing of it is left on any node: its processes must
// not meet those of the attempt that goes on. It keeps the time it was submitted at. One whose walltime
// was over stays suspended until somebody asks for more.

import { withNote } from "../allocation/keep-past.ts";
import { moveAllocation } from "../allocation/move.ts";
import type { AllocationId } from "../ids.ts";
import type { Outcome } from "../outcome.ts";
import { accepted, quote, refuse, type Step } from "../step.ts";
import type { ResumeCommand } from "./commands.ts";

/** Called when it is suspended, and with every claim that is released. */
export function backToQueue(step: Step, id: AllocationId): void {
  const record = step.state.allocation(id);
  if (record?.phase.kind !== "suspended" || step.state.indexes.claimCount(id) > 0) return;
  const { cause, message } = record.phase;
  if (cause === "walltime") return;
  const text = "Queued again: its nodes have confirmed that nothing of it is left there.";
  const told = withNote(record, { type: "state", kind: "requeued", text }, step);
  moveAllocation(step, told, { kind: "pending", since: step.at, cause, message }, { pendingSinceIndex: step.index });
}

export function resumeAllocation(step: Step, { id, origin }: ResumeCommand): Outcome {
  const record = step.state.allocation(id);
  if (record === undefined) return refuse("unknown_allocation", `there is no allocation ${quote(id)}`);
  const { phase } = record;
  if (phase.kind !== "suspended")
    return refuse("illegal_transition", `allocation ${id} is ${phase.kind}, not suspended`);
  if (phase.cause !== "walltime") return refuse("illegal_transition", `allocation ${id} is queued again by itself`);
  if (step.state.indexes.claimCount(id) > 0) {
    return refuse("illegal_transition", `allocation ${id} is still being cleared from its nodes; try again`);
  }
  const message = `resumed by ${origin.user}`;
  const pending = { kind: "pending", since: step.at, cause: "resumed", message } as const;
  const told = withNote(record, { type: "state", kind: "requeued", text: `Queued again: ${message}.` }, step);
  moveAllocation(step, told, pending, { pendingSinceIndex: step.index });
  return accepted(id);
}
