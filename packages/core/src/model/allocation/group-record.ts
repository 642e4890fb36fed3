// Represents an ended task group as one allocation record, for the history.

import { logIndex } from "../../base/ids.ts";
import { invariant } from "../../base/invariant.ts";
import { hasGroupEnded, type TaskGroup } from "../group/group.ts";
import { sizeOf } from "../group/range.ts";
import type { Allocation } from "./allocation.ts";
import { newAllocation } from "./new-allocation.ts";
import type { FinalPhase } from "./phase.ts";

export function foldGroup(group: TaskGroup): Allocation {
  const { range, concurrency, counts } = group;
  return {
    ...newAllocation(group, { at: group.submittedAt, index: logIndex(0) }),
    phase: groupEnd(group),
    group: { range, concurrency, counts },
  };
}

/** The group must have ended. */
export function groupEnd(group: TaskGroup): FinalPhase {
  const { phase, cancelled, counts, range } = group;
  invariant(hasGroupEnded(phase), `task group ${group.id} has not ended`);
  const of = `of ${sizeOf(range)} elements`;
  const facts = { nodes: [], startedAt: phase.startedAt, endedAt: phase.endedAt, exitCode: null };
  switch (phase.kind) {
    case "completed":
      return { ...facts, kind: "completed", message: "" };
    case "failed":
      return { ...facts, kind: "failed", reason: "element_failed", message: `${counts.failed} ${of} failed` };
    case "cancelled":
      return {
        ...facts,
        kind: "cancelled",
        by: cancelled?.by ?? group.user,
        reason: cancelled?.reason ?? "elements_cancelled",
        message: cancelled?.message || `${counts.cancelled} ${of} were cancelled`,
      };
  }
}
