// Elements that depend on the element of the same index in another group. Each mark counts the open counterparts, so
// that nothing is looked up when one ends. An index that the other group lacks is met at once.

import type { AllocationId } from "../../base/ids.ts";
import { elementId, parseAllocationId } from "../../base/ids.ts";
import type { TaskGroup } from "../../model/group/group.ts";
import { CHUNK_SIZE, countsCounterparts, END_MARKS, elementState, oneFewer, READY } from "../../model/group/marks.ts";
import { indexAt, positionOf, sizeOf } from "../../model/group/range.ts";
import type { EndKind } from "../../model/spec/dependency.ts";
import { counterpartRefs } from "../../state/flows.ts";
import type { State } from "../../state/state.ts";
import type { Step } from "../step.ts";
import { setMark } from "./set-mark.ts";

/** Initializes a new group: some of its counterparts may have ended already. */
export function markCounterparts(step: Step, group: TaskGroup): void {
  const { state } = step;
  const others = counterpartRefs(group).flatMap((ref) => groupNamed(state, ref) ?? []);
  const size = sizeOf(group.range);
  let cancelled = 0;
  for (let first = 0; first < size; first += CHUNK_SIZE) {
    let marks = "";
    for (let position = first; position < Math.min(size, first + CHUNK_SIZE); position += 1) {
      const mark = markFor(state, others, indexAt(group.range, position));
      if (mark === END_MARKS.cancelled) {
        cancelled += 1;
        step.endedWork.push({
          id: elementId(group.id, indexAt(group.range, position)),
          end: "cancelled",
          record: null,
        });
      }
      marks += mark;
    }
    state.putMarks({ group: group.id, n: first / CHUNK_SIZE, marks });
  }
  if (cancelled > 0) state.putGroup({ ...group, counts: { ...group.counts, cancelled } });
}

function markFor(state: State, others: readonly TaskGroup[], index: number): string {
  let open = 0;
  for (const other of others) {
    const position = positionOf(other.range, index);
    const ended = position === null ? "completed" : elementState(state.mark(other, position));
    if (ended === "waiting" || ended === "made") open += 1;
    else if (ended !== "completed") return END_MARKS.cancelled;
  }
  return open === 0 ? READY : String(open);
}

/** Handles the end of an element: decrements the marks of the same index in dependent groups. */
export function judgeCounterparts(step: Step, other: AllocationId, index: number, end: EndKind): void {
  const { state } = step;
  const waiting = state.indexes.flows.counterparts(other);
  if (waiting.size === 0) return;
  for (const id of [...waiting]) {
    const group = state.group(id);
    const position = group === undefined ? null : positionOf(group.range, index);
    if (group === undefined || position === null) continue;
    const mark = state.mark(group, position);
    if (!countsCounterparts(mark)) continue;
    step.touchedGroups.add(id);
    if (end === "completed") {
      setMark(state, group, position, oneFewer(mark));
      continue;
    }
    setMark(state, group, position, END_MARKS.cancelled);
    state.putGroup({ ...group, counts: { ...group.counts, cancelled: group.counts.cancelled + 1 } });
    step.endedWork.push({ id: elementId(id, index), end: "cancelled", record: null });
  }
}

/** Returns the task group of a reference, if it is one. */
function groupNamed(state: State, ref: string): TaskGroup | undefined {
  const id = parseAllocationId(ref);
  return id === null ? undefined : state.group(id);
}
