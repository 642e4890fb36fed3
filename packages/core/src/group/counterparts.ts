// Elements that wait for the element of the same index in another group. Each mark says how many of them
// are still open, so that nothing needs to be looked up again when one ends. An index that the other
// group lacks is met at once.

import type { EndKind } from "../allocation/dependency.ts";
import type { AllocationId } from "../ids.ts";
import { counterpartRefs } from "../state/flows.ts";
import type { State } from "../state/state.ts";
import type { Step } from "../step.ts";
import type { TaskGroup } from "./group.ts";
import { CHUNK_SIZE, countsCounterparts, END_MARKS, elementState, oneFewer, READY } from "./marks.ts";
import { elementId, indexAt, positionOf, sizeOf } from "./range.ts";
import { setMark } from "./set-mark.ts";

/** For a group that was just put: some of its counterparts may have ended already. */
export function markCounterparts(step: Step, group: TaskGroup): void {
  const { state } = step;
  const others = counterpartRefs(group).flatMap((ref) => state.group(ref as AllocationId) ?? []);
  const size = sizeOf(group.range);
  let cancelled = 0;
  for (let first = 0; first < size; first += CHUNK_SIZE) {
    let marks = "";
    for (let position = first; position < Math.min(size, first + CHUNK_SIZE); position += 1) {
      const mark = markFor(state, others, indexAt(group.range, position));
      if (mark === END_MARKS.cancelled) {
        cancelled += 1;
        step.ended.push({ id: elementId(group.id, indexAt(group.range, position)), end: "cancelled", record: null });
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

/** One element of a group has ended: those of the same index elsewhere have one thing fewer to wait for. */
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
    step.stirred.add(id);
    if (end === "completed") {
      setMark(state, group, position, oneFewer(mark));
      continue;
    }
    setMark(state, group, position, END_MARKS.cancelled);
    state.putGroup({ ...group, counts: { ...group.counts, cancelled: group.counts.cancelled + 1 } });
    step.ended.push({ id: elementId(id, index), end: "cancelled", record: null });
  }
}
