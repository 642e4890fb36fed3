// Finished records leave the live state by this rule, the same on every replica, and go to the
// history as `archive` effects. An allocation is finished when it is final and none of its nodes
// still holds a claim for it.

import type { SetRetentionCommand } from "../command.ts";
import { foldGroup } from "../group/fold.ts";
import { present } from "../invariant.ts";
import type { FieldProblem, Outcome } from "../outcome.ts";
import { accepted, refuseFields, type Step, unchanged } from "../step.ts";

/** Beyond this the live state is no place for finished work. */
export const MAX_FINISHED_LIMIT = 1_000_000;

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

export function setRetention(step: Step, command: SetRetentionCommand): Outcome {
  const { maxFinished, maxFinishedAge } = command;
  const problems: FieldProblem[] = [];
  if (!isWithin(maxFinished, MAX_FINISHED_LIMIT)) {
    problems.push({ field: "retention.max_finished", detail: `must be a whole number up to ${MAX_FINISHED_LIMIT}` });
  }
  if (!isWithin(maxFinishedAge, Number.MAX_SAFE_INTEGER)) {
    problems.push({ field: "retention.max_finished_age", detail: "must not be negative" });
  }
  if (problems.length > 0) return refuseFields(problems);
  const now = step.state.retention;
  if (now.maxFinished === maxFinished && now.maxFinishedAge === maxFinishedAge) return unchanged(null);

  step.state.retention = { maxFinished, maxFinishedAge };
  return accepted(null);
}

const isWithin = (n: number, most: number): boolean => Number.isSafeInteger(n) && n >= 0 && n <= most;
