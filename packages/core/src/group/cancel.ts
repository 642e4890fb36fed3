// Cancelling a task group, one of its elements, or ranges of them. Elements that were never made end
// without a record; the others are cancelled as any allocation is.

import { type Cancellation, endByCancel } from "../allocation/end-by-cancel.ts";
import { isFinal } from "../allocation/phase.ts";
import type { CancelCommand, IndexRange } from "../command.ts";
import type { Outcome } from "../outcome.ts";
import { accepted, refuse, type Step, unchanged } from "../step.ts";
import { hasGroupEnded, type TaskGroup } from "./group.ts";
import { CHUNK_SIZE, chunkOf, type ElementState, END_MARKS, elementState, markKey, WAITING } from "./marks.ts";
import { elementId, elementOf, indexAt } from "./range.ts";
import { noSuchElements, type Span, spanOf, wholeSpan } from "./spans.ts";

/** Null: the command is not about a group or an element of one. */
export function cancelOfGroup(step: Step, command: CancelCommand): Outcome | null {
  const { id, origin, reason } = command;
  const how: Cancellation = { by: origin.user, reason, message: "" };
  const element = elementOf(id);
  const group = step.state.group(element?.group ?? id);
  if (group === undefined) return null;
  if (element !== null) {
    return cancelElements(step, group, [{ from: element.index, to: element.index }], how) ?? accepted(id);
  }
  if (command.elements !== undefined) return cancelElements(step, group, command.elements, how) ?? accepted(id);
  if (group.phase.kind === "cancelled") return unchanged(id);
  if (hasGroupEnded(group.phase))
    return refuse("illegal_transition", `task group ${id} is already ${group.phase.kind}`);
  cancelGroup(step, group, how);
  return accepted(id);
}

/** Only of one that has not ended. It ends with the last of its elements. */
export function cancelGroup(step: Step, group: TaskGroup, how: Cancellation): void {
  step.state.putGroup({ ...group, cancelled: { by: how.by, reason: how.reason, message: how.message } });
  cancelPositions(step, group, [wholeSpan(group)], how);
  step.stirred.add(group.id);
}

/** Null: done. */
function cancelElements(
  step: Step,
  group: TaskGroup,
  ranges: readonly IndexRange[],
  how: Cancellation,
): Outcome | null {
  const spans: Span[] = [];
  for (const range of ranges) {
    const span = spanOf(group, range);
    if (span === null) return noSuchElements(group, range);
    spans.push(span);
  }
  const states = new Set<ElementState>();
  for (const [first, last] of spans) {
    for (let at = first; at <= last; at += 1) states.add(elementState(step.state.mark(group, at)));
  }
  if (states.has("waiting") || states.has("made")) {
    cancelPositions(step, group, spans, how);
    step.stirred.add(group.id);
    return null;
  }
  if (states.size === 1 && states.has("cancelled")) return unchanged(group.id);
  return refuse("illegal_transition", `these elements of task group ${group.id} have already ended`);
}

function cancelPositions(step: Step, group: TaskGroup, spans: readonly Span[], how: Cancellation): void {
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

/** Both positions lie in one chunk. Answers how many ended without a record. */
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
    if (record !== undefined && !isFinal(record.phase)) endByCancel(step, record, how);
    if (state !== "waiting") continue;
    marks[at % CHUNK_SIZE] = END_MARKS.cancelled;
    // Of a million that nobody waits for, nothing more needs to be settled.
    if (awaited) step.ended.push({ id, end: "cancelled", record: null });
    ended += 1;
  }
  if (ended > 0) step.state.putMarks({ group: group.id, n, marks: marks.join("") });
  return ended;
}
