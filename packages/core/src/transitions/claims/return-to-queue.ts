// A suspended allocation returns to the queue when no node holds anything of it: its processes must not meet the
// processes of the next attempt. It keeps its time of submission. An allocation whose walltime was over stays suspended
// until a user extends it.

import type { AllocationId } from "../../base/ids.ts";
import { withNote } from "../../model/allocation/record-past.ts";
import { moveAllocation } from "../allocation/move.ts";
import type { Step } from "../step.ts";

/** Called when it is suspended, and with every claim that is released. */
export function returnToQueue(step: Step, id: AllocationId): void {
  const record = step.state.allocation(id);
  if (record?.phase.kind !== "suspended" || step.state.indexes.claimCount(id) > 0) return;
  const { cause, message } = record.phase;
  if (cause === "walltime") return;
  const text = "Queued again: its nodes have confirmed that nothing of it is left there.";
  const told = withNote(record, { type: "state", kind: "requeued", text }, step);
  moveAllocation(step, told, { kind: "pending", since: step.at, cause, message }, { pendingSinceIndex: step.index });
}
