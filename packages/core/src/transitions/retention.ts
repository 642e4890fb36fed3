// Moves finished records from the live state to the history as `archive` effects, by the same rule on every replica. An
// allocation is finished when it is final and no node holds a claim for it.

import { present } from "../base/invariant.ts";
import { foldGroup } from "../model/allocation/group-record.ts";
import type { Step } from "./step.ts";

export function archiveFinished(step: Step): void {
  const { state } = step;
  const { finished } = state.tables;
  for (;;) {
    const key = String(state.counters.nextFinished - finished.size);
    const oldest = finished.get(key);
    if (oldest === undefined) return;
    const group = state.group(oldest.allocation);
    const stored = group === undefined ? state.allocation(oldest.allocation) : foldGroup(group);
    const record = present(stored, `finished ${oldest.allocation} is not stored`);
    const endedAt = "endedAt" in record.phase ? record.phase.endedAt : step.at;
    const tooOld = step.at - endedAt > state.retention.maxFinishedAge;
    if (!tooOld && finished.size <= state.retention.maxFinished) return;
    finished.delete(key);
    if (group === undefined) state.removeAllocation(record.id);
    else state.removeGroup(group);
    step.effects.push({ kind: "archive", record });
  }
}
