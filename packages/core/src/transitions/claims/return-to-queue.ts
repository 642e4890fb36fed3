// A suspended allocation returns to the queue when no node holds anything of it: its processes must not meet the
// processes of the next attempt. It keeps its time of submission. An allocation whose walltime was over stays suspended
// until a user extends it.

import type { AllocationId } from "../../base/ids.ts";
import { withNote } from "../../model/allocation/record-past.ts";
import { moveAllocation } from "../allocation/move.ts";
import type { Step } from "../step.ts";

/** Called when it is suspended, and at every release of a claim. */
export function returnToQueue(step: Step, id: AllocationId): void {
  const record = step.state.allocation(id);
  if (record?.phase.kind !== "suspended" || step.state.indexes.claimCount(id) > 0) return;
  const { cause, message } = record.phase;
  if (cause === "walltime") return;
  const text = "Queued again: its nodes have confirmed the cleanup.";
  const noted = withNote(record, { type: "state", kind: "requeued", text }, step);
  moveAllocation(step, noted, { kind: "pending", since: step.at, cause, message }, { pendingSinceIndex: step.index });
}
