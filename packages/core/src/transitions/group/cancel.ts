// Cancels a task group, elements, or ranges of elements. Elements without a record end without one; the others are
// cancelled like any allocation.

import { elementId } from "../../base/ids.ts";
import { isFinal } from "../../model/allocation/phase.ts";
import type { TaskGroup } from "../../model/group/group.ts";
import { CHUNK_SIZE, chunkOf, END_MARKS, elementState, markKey, WAITING } from "../../model/group/marks.ts";
import { indexAt } from "../../model/group/range.ts";
import { type Cancellation, cancelAllocation } from "../attempt/cancel.ts";
import type { Step } from "../step.ts";
import { type Span, wholeSpan } from "./spans.ts";

/** The group must not have ended. It ends with the last of its elements. */
export function cancelGroup(step: Step, group: TaskGroup, how: Cancellation): void {
  step.state.putGroup({ ...group, cancelled: { by: how.by, reason: how.reason, message: how.message } });
  cancelPositions(step, group, [wholeSpan(group)], how);
  step.touchedGroups.add(group.id);
}

export function cancelPositions(step: Step, group: TaskGroup, spans: readonly Span[], how: Cancellation): void {
  let ended = 0;
  for (const [first, last] of spans) {
    for (let at = first; at <= last; at = (chunkOf(at) + 1) * CHUNK_SIZE) {
      ended += cancelInChunk(step, group, [at, Math.min(last, (chunkOf(at) + 1) * CHUNK_SIZE - 1)], how);
    }
  }
  const now = step.state.group(group.id);
  if (ended === 0 || now === undefined) return;
  step.state.putGroup({ ...now, counts: { ...now.counts, cancelled: now.counts.cancelled + ended } });
}

/** Both positions are in one chunk. Returns the number of elements that ended without a record. */
function cancelInChunk(step: Step, group: TaskGroup, [first, last]: Span, how: Cancellation): number {
  const n = chunkOf(first);
  const awaited = step.state.indexes.flows.elementsAwaited(group.id);
  const marks = [...(step.state.tables.marks.get(markKey(group.id, n))?.marks ?? WAITING.repeat(CHUNK_SIZE))];
  let ended = 0;
  for (let at = first; at <= last; at += 1) {
    const state = elementState(marks[at % CHUNK_SIZE] ?? WAITING);
    if (state !== "made" && state !== "waiting") continue;
    const id = elementId(group.id, indexAt(group.range, at));
    const record = state === "made" ? step.state.allocation(id) : undefined;
    if (record !== undefined && !isFinal(record.phase)) cancelAllocation(step, record, how);
    if (state !== "waiting") continue;
    marks[at % CHUNK_SIZE] = END_MARKS.cancelled;
    // A million elements without dependents need no settling.
    if (awaited) step.endedWork.push({ id, end: "cancelled", record: null });
    ended += 1;
  }
  if (ended > 0) step.state.putMarks({ group: group.id, n, marks: marks.join("") });
  return ended;
}
