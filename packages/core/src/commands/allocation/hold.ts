// allocation.hold: holds or releases pending work: an allocation, a task group, or elements of one.

import type { AllocationId } from "../../base/ids.ts";
import { elementId, elementOf } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse, unchanged } from "../../base/outcome.ts";
import { hasGroupEnded, type TaskGroup } from "../../model/group/group.ts";
import { elementState, HELD_MARKS, heldMark, WAITING } from "../../model/group/marks.ts";
import type { IndexRange } from "../../model/group/range.ts";
import { indexAt } from "../../model/group/range.ts";
import type { Hold, HoldKind } from "../../model/hold.ts";
import type { Origin } from "../../model/origin.ts";
import { heldAs, holdRecord, mayRelease, refuseForeignHold, releaseRecord } from "../../transitions/allocation/hold.ts";
import { groupChanged } from "../../transitions/group/event.ts";
import { setMark } from "../../transitions/group/set-mark.ts";
import { noSuchElements, type Span, spanOf, wholeSpan } from "../../transitions/group/spans.ts";
import type { Step } from "../../transitions/step.ts";

/** Holds or releases pending work. */
export interface HoldCommand {
  readonly kind: "allocation.hold";
  readonly origin: Origin;
  readonly id: AllocationId;
  readonly held: boolean;
  /** Whether the sender administers the work and may release holds that others placed. */
  readonly admin: boolean;
  /** Elements of a task group, by index. Default: all. */
  readonly elements?: readonly IndexRange[];
}

export function holdWork(step: Step, command: HoldCommand): Outcome {
  const record = command.elements === undefined ? step.state.allocation(command.id) : undefined;
  if (record === undefined) {
    const outcome = holdOfGroup(step, command);
    return outcome ?? refuse("unknown_allocation", `there is no allocation ${quote(command.id)}`);
  }
  if (record.phase.kind !== "pending") {
    if (!command.held) return unchanged(record.id);
    return refuse(
      "illegal_transition",
      `allocation ${record.id} is ${record.phase.kind}: only pending allocations can be held`,
    );
  }
  if (command.held) return holdRecord(step, record, command) ? accepted(record.id) : unchanged(record.id);
  if (record.hold === undefined) return unchanged(record.id);
  if (!mayRelease(record.hold.as, command)) return refuseForeignHold(`allocation ${record.id}`);
  releaseRecord(step, record, command);
  return accepted(record.id);
}

/** Returns `null` when the id names neither a task group nor an element of one. */
function holdOfGroup(step: Step, command: HoldCommand): Outcome | null {
  const element = elementOf(command.id);
  const group = step.state.group(element?.group ?? command.id);
  if (group === undefined) return null;
  const ranges = element === null ? command.elements : [{ from: element.index, to: element.index }];
  if (ranges === undefined) return command.held ? holdGroup(step, group, command) : releaseGroup(step, group, command);
  if (group.counterparts.length > 0) {
    const detail = `the elements of task group ${group.id} depend on elements of other groups: hold the whole group`;
    return refuse("illegal_transition", detail);
  }
  const spans: Span[] = [];
  for (const range of ranges) {
    const span = spanOf(group, range);
    if (span === null) return noSuchElements(group, range);
    spans.push(span);
  }
  if (command.held) return holdElements(step, group, spans, command);
  const released = releaseElements(step, group, spans, command);
  return released.count === 0 && released.barred > 0
    ? refuseForeignHold(command.id)
    : outcomeOf(command, released.count);
}

const outcomeOf = ({ id }: HoldCommand, count: number): Outcome => (count > 0 ? accepted(id) : unchanged(id));

function holdGroup(step: Step, group: TaskGroup, command: HoldCommand): Outcome {
  if (hasGroupEnded(group.phase)) {
    return refuse("illegal_transition", `task group ${group.id} is already ${group.phase.kind}`);
  }
  const as = heldAs(group.user, command);
  if (group.hold?.as === "admin" || group.hold?.as === as) return unchanged(group.id);
  const hold: Hold = { as, by: command.origin.user, since: step.at };
  const held = { ...group, hold };
  step.state.putGroup(held);
  const message = `Held by ${command.origin.user}.`;
  step.events.push({ ...groupChanged(held, group.phase.kind), reason: "held", message });
  forEachMade(step, group, wholeSpan(group), (record) => void holdRecord(step, record, command));
  return accepted(group.id);
}

function releaseGroup(step: Step, group: TaskGroup, command: HoldCommand): Outcome {
  if (hasGroupEnded(group.phase)) return unchanged(group.id);
  const barred = group.hold !== undefined && !mayRelease(group.hold.as, command);
  if (barred) return refuseForeignHold(`task group ${group.id}`);
  const { hold, ...rest } = group;
  if (hold !== undefined) {
    const released = { ...rest, eligibleAt: step.at };
    step.state.putGroup(released);
    const message = `Released by ${command.origin.user}.`;
    step.events.push({ ...groupChanged(released, group.phase.kind), reason: "released", message });
  }
  const elements = releaseElements(step, group, [wholeSpan(group)], command);
  step.touchedGroups.add(group.id);
  if (hold === undefined && elements.count === 0 && elements.barred > 0)
    return refuseForeignHold(`task group ${group.id}`);
  return outcomeOf(command, elements.count + Number(hold !== undefined));
}

function holdElements(step: Step, group: TaskGroup, spans: readonly Span[], command: HoldCommand): Outcome {
  const mark = HELD_MARKS[heldAs(group.user, command)];
  let count = 0;
  let waiting = 0;
  for (const span of spans) {
    for (let at = span[0]; at <= span[1]; at += 1) {
      const known = step.state.mark(group, at);
      if (elementState(known) !== "waiting") continue;
      waiting += 1;
      if (known === mark || heldMark(known) === "admin") continue;
      setMark(step.state, group, at, mark);
      count += 1;
    }
    forEachMade(step, group, span, (record) => {
      if (record.phase.kind !== "pending") return;
      waiting += 1;
      count += Number(holdRecord(step, record, command));
    });
  }
  if (waiting > 0) return outcomeOf(command, count);
  return refuse("illegal_transition", `none of these elements of task group ${group.id} is pending`);
}

/** `barred` counts the holds that the sender may not release. */
function releaseElements(step: Step, group: TaskGroup, spans: readonly Span[], command: HoldCommand) {
  let count = 0;
  let barred = 0;
  let first = Number.POSITIVE_INFINITY;
  const may = (as: HoldKind): boolean => {
    if (mayRelease(as, command)) count += 1;
    else barred += 1;
    return mayRelease(as, command);
  };
  for (const span of spans) {
    for (let at = span[0]; at <= span[1]; at += 1) {
      const as = heldMark(step.state.mark(group, at));
      if (as === null || !may(as)) continue;
      setMark(step.state, group, at, WAITING);
      first = Math.min(first, at);
    }
    forEachMade(step, group, span, (record) => {
      if (record.hold !== undefined && may(record.hold.as)) releaseRecord(step, record, command);
    });
  }
  const now = step.state.group(group.id);
  if (now !== undefined && first < now.next) step.state.putGroup({ ...now, next: first });
  if (count > 0) step.touchedGroups.add(group.id);
  return { count, barred };
}

type Visit = (record: NonNullable<ReturnType<Step["state"]["allocation"]>>) => void;

function forEachMade(step: Step, group: TaskGroup, [first, last]: Span, visit: Visit): void {
  for (let at = first; at <= last; at += 1) {
    if (elementState(step.state.mark(group, at)) !== "made") continue;
    const record = step.state.allocation(elementId(group.id, indexAt(group.range, at)));
    if (record !== undefined) visit(record);
  }
}
