// allocation.cancel: ends an allocation, a task group, or elements of one. The end is final at once; the claims of a placed
// allocation stay, marked releasing, until each node has confirmed that its processes are gone.

import type { AllocationId } from "../../base/ids.ts";
import { elementOf } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse, unchanged } from "../../base/outcome.ts";
import { isFinal } from "../../model/allocation/phase.ts";
import { hasGroupEnded, type TaskGroup } from "../../model/group/group.ts";
import { type ElementState, elementState } from "../../model/group/marks.ts";
import type { IndexRange } from "../../model/group/range.ts";
import type { Origin } from "../../model/origin.ts";
import type { Cancellation } from "../../transitions/attempt/cancel.ts";
import { cancelAllocation } from "../../transitions/attempt/cancel.ts";
import { cancelGroup, cancelPositions } from "../../transitions/group/cancel.ts";
import { noSuchElements, type Span, spanOf } from "../../transitions/group/spans.ts";
import type { Step } from "../../transitions/step.ts";

export interface CancelCommand {
  readonly kind: "allocation.cancel";
  readonly origin: Origin;
  readonly id: AllocationId;
  readonly reason: string;
  /** Elements of a task group, by index. Default: all. */
  readonly elements?: readonly IndexRange[];
}

export function cancelWork(step: Step, command: CancelCommand): Outcome {
  const record = step.state.allocation(command.id);
  if (record === undefined || command.elements !== undefined) {
    const outcome = cancelGroupOrElement(step, command);
    if (outcome !== null) return outcome;
  }
  if (record === undefined) return refuse("unknown_allocation", `there is no allocation ${quote(command.id)}`);
  if (record.phase.kind === "cancelled") return unchanged(record.id);
  if (isFinal(record.phase)) {
    return refuse("illegal_transition", `allocation ${record.id} is already ${record.phase.kind}`);
  }

  cancelAllocation(step, record, { by: command.origin.user, reason: command.reason, message: "" });
  return accepted(record.id);
}

/** Returns `null` when the id names neither a task group nor an element of one. */
function cancelGroupOrElement(step: Step, command: CancelCommand): Outcome | null {
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

/** Returns `null` when the elements were cancelled. */
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
    step.touchedGroups.add(group.id);
    return null;
  }
  if (states.size === 1 && states.has("cancelled")) return unchanged(group.id);
  return refuse("illegal_transition", `these elements of task group ${group.id} have already ended`);
}
